"""`python -m tools.recording power`: speed, clock and energy of kernels on different inputs, for results/power.

A kernel is timed in both regimes on zeros, small integers, uniform mantissas and N(0, 1). A copy of the kernel reads
%clock64 and %globaltimer when a block begins and ends: so the clock is known at which the SMs really ran. NVML's
reading of the clock stands beside it, and its reasons for a lower clock. The power is the slope of NVML's counter of
the whole board's energy (nvmlDeviceGetTotalEnergyConsumption) from its first step in the measured seconds to its last,
because the counter advances in steps. `plain_tflops` is the kernel without the stamps, in turns with the copy.

    <gpu>.csv         one row for each kernel, input and regime
    <gpu>_trace.csv   the first two seconds after a rest, launch by launch
    <gpu>_l2.csv      how fast all SMs read buffers of different sizes
"""

from __future__ import annotations

import csv
import datetime
import re
import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import gpu_runner
from gemm_lab.config import data_dir
from gemm_lab.lab import Kernel, kernel
from gemm_lab.lab.here import Here
from gemm_lab.measure.benchmark import commit
from gemm_lab.measure.check import wire_problem
from gemm_results.errors import LabError
from gemm_results.results import path_for
from gpu_runner import operations
from gpu_runner.driver import Buffer, Device
from gpu_runner.timing.nvml import Gauge
from gpu_runner.timing.verify import Inputs
from gpu_simulator import compiler

N = 8192
INPUTS = ("zeros", "integers", "mantissas", "normal")  # integers: whole numbers from -2 to 2; mantissas: ±[1, 2)
KERNELS = ("hopper/02", "hopper/04", "hopper/05", "hopper/07", "hopper/08_ping_pong", "hopper/08_ping_pong_wide")
WARM_S, MEASURED_S, REST_S, BURSTS, TRACE_S = 1.0, 4.0, 0.15, 12, 2.0
LOOK_S, QUEUED = 0.02, 20
COLUMNS = (
    "kernel", "input", "regime", "n", "tflops", "clock_mhz", "nvml_mhz", "watts", "joules_per_tflop", "plain_tflops",
    "reasons", "gpu", "driver", "cuda", "commit", "date",
)  # fmt: skip
TRACE = ("kernel", "input", "n", "ms", "tflops", "clock_mhz", "watts")
BINS = ((100.0, 5.0), (TRACE_S * 1000, 25.0))  # of a trace: until so many ms, the medians of so many ms
L2 = ("megabytes", "terabytes_per_s", "bytes_per_clock")
WATCH = """
struct Watch {  // when this block began and ended, by the clock of its SM and by the global timer
  unsigned long long *to, clock, nanoseconds;
  __device__ __forceinline__ static void now(unsigned long long& c, unsigned long long& n) {
    asm volatile("mov.u64 %0, %%clock64;\\n\\tmov.u64 %1, %%globaltimer;" : "=l"(c), "=l"(n) :: "memory");
  }
  __device__ __forceinline__ Watch(void* buffer) {
    to = static_cast<unsigned long long*>(buffer) + 4 * (blockIdx.y * gridDim.x + blockIdx.x);
    now(clock, nanoseconds);
  }
  __device__ __forceinline__ ~Watch() {
    unsigned long long c, n;
    now(c, n);
    if (threadIdx.x == 0) to[0] = clock, to[1] = nanoseconds, to[2] = c, to[3] = n;
  }
};
"""
READER = r"""
extern "C" __global__ void __launch_bounds__(512) reader(const uint4* data, unsigned chunks, int turns, unsigned* out,
                                                          unsigned long long* clocks) {
  const unsigned warp = blockIdx.x * 16 + threadIdx.x / 32, warps = gridDim.x * 16, lane = threadIdx.x % 32;
  unsigned long long begun = clock64();
  unsigned sum = 0, chunk = warp % chunks;
  for (int turn = 0; turn < turns; turn++) {  // each warp takes 4 KB at a time: eight loads, none waits for another
    const uint4* from = data + chunk * 256 + lane;
    uint4 v[8];
    #pragma unroll
    for (int i = 0; i < 8; i++)
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v[i].x), "=r"(v[i].y), "=r"(v[i].z), "=r"(v[i].w) : "l"(from + 32 * i));
    #pragma unroll
    for (int i = 0; i < 8; i++) sum ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
    chunk = (chunk + warps) % chunks;
  }
  if (sum == 0x12345678) *out = 1;
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begun;
}
"""


def watched(source: str) -> str:
    """The source of a kernel with one more parameter, the buffer of its blocks' clocks: [blocks][4] u64."""
    entry = re.search(r"(\bgemm\([^{;]*?)\)\s*\{", source, re.S)
    includes = list(re.finditer(r"^#include [^\n]*\n", source, re.M))
    if entry is None or not includes:
        raise LabError("Only a kernel gemm(…) with its includes can be watched.")
    source = (
        f"{source[: entry.start()]}{entry[1]}, void* gmem_watch) {{\n  Watch watch(gmem_watch);{source[entry.end() :]}"
    )
    return source[: includes[-1].end()] + WATCH + source[includes[-1].end() :]


def inputs_of(kind: str, device: Device, problem: dict[str, Any], n: int) -> Inputs:
    """A, B and D of an n × n × n product in BF16, filled as INPUTS says."""
    found = Inputs(
        device,
        operations.support(),
        problem,
        n,
        n,
        n,
        kind="integers" if kind == "integers" else "normal",
        seed=1,
        limit=2,
    )
    for buffer in (found.a, found.b):
        if kind == "zeros":
            buffer.fill(0)
        elif kind == "mantissas":
            bits = np.random.default_rng(1).integers(0, 1 << 8, n * n, np.uint16)
            buffer.write(((bits & 0x80) << 8) | 0x3F80 | (bits & 0x7F))
    return found


class Subject:
    """A kernel, or cuBLAS, that is launched on one set of inputs. `clocks` are the blocks' of the latest launches."""

    def __init__(self, name: str, shown: str, device: Device, inputs: Inputs, arch: str, slots: int = 8):
        self.name, self.device, self.flops = shown, device, 2.0 * inputs.m * inputs.n * inputs.k
        self.watches: list[Buffer] = []
        self.turn = 0
        self.plain: Callable[[], None] | None = None
        problem = inputs.problem
        if name == "cublas":
            self.calls = [
                operations.blas().gemm(
                    inputs.m, inputs.n, inputs.k, inputs.a, inputs.b, inputs.d, dtype_in=problem["dtype_in"],
                    dtype_out=problem["dtype_out"], dtype_acc=problem["dtype_acc"], layout_a=problem["layout_a"],
                    layout_b=problem["layout_b"], alpha=1.0, beta=0.0,
                )
            ]  # fmt: skip
            return
        rung: Kernel = kernel(name)
        compiled = rung.rewrite(watched(rung.source), file=rung.spec.file).compile(arch)
        grid = rung.grid(inputs.m, inputs.n, inputs.k)
        function = device.kernel(gpu_runner.payload(compiled))
        self.calls = []
        for _ in range(slots):
            watch = Buffer(device, 32 * grid[0] * grid[1] * grid[2])
            watch.fill(0)
            self.watches.append(watch)
            arguments = [inputs.argument(token, 1.0, 0.0) for token in rung.problem.tokens] + [watch]
            self.calls.append(device.launcher(function, grid, arguments, rung.spec.cluster))
        plain = device.kernel(gpu_runner.payload(rung.compile(arch)))
        arguments = [inputs.argument(token, 1.0, 0.0) for token in rung.problem.tokens]
        self.plain = device.launcher(plain, grid, arguments, rung.spec.cluster)

    def launch(self) -> None:
        self.turn = (self.turn + 1) % len(self.calls)
        self.calls[self.turn]()

    def mhz(self, slot: int) -> float:
        """The SMs' clock during a launch: clocks ÷ microseconds of its blocks, the median."""
        blocks = self.watches[slot].read("uint64", (self.watches[slot].nbytes // 32, 4)).astype(np.int64)
        spans = blocks[:, 2:] - blocks[:, :2]
        spans = spans[spans[:, 1] > 20_000]  # ns: the global timer advances in steps of up to about a microsecond
        return float(np.median(spans[:, 0] / spans[:, 1]) * 1000) if len(spans) else float("nan")

    def clock(self) -> float:
        """The median of the latest launches, in MHz; NaN for a library."""
        return statistics.median(map(self.mhz, range(len(self.watches)))) if self.watches else float("nan")

    def free(self) -> None:
        for watch in self.watches:
            watch.free()


class Board:
    """NVML's counter of the board's energy, in joules, and its reasons for a clock below the highest."""

    def __init__(self, bus_id: str):
        import pynvml

        pynvml.nvmlInit()
        self._nvml, self._gpu = pynvml, pynvml.nvmlDeviceGetHandleByPciBusId(bus_id.encode())
        prefix = "nvmlClocksThrottleReason"
        self._reasons = {
            getattr(pynvml, name): name.removeprefix(prefix)
            for name in dir(pynvml)
            if name.startswith(prefix) and name not in (f"{prefix}None", f"{prefix}All", f"{prefix}sNone")
        }

    def joules(self) -> float:
        return self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._gpu) / 1000.0

    def reasons(self) -> set[str]:
        mask = self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._gpu)
        return {name for bit, name in self._reasons.items() if isinstance(bit, int) and bit & mask}


def busy(subject: Subject, seconds: float, each: Callable[[], None] = lambda: None) -> tuple[int, float]:
    """Launch without a pause for so long; returns (launches, seconds between the first and the last of them).

    each: called every `LOOK_S` seconds; it may ask NVML, which takes milliseconds, so `QUEUED` launches wait meanwhile.
    """
    device, marks, count, begun = subject.device, deque([subject.device.mark()]), 0, time.monotonic()
    first, looked = marks[0], begun
    while time.monotonic() - begun < seconds:
        subject.launch()
        count += 1
        marks.append(device.mark())
        if len(marks) > QUEUED:
            marks.popleft().synchronize()
        if time.monotonic() - looked > LOOK_S:
            each()
            looked = time.monotonic()
    marks[-1].synchronize()
    return count, device.milliseconds(first, marks[-1]) / 1000


def sustained(subject: Subject, gauge: Gauge, board: Board) -> dict[str, Any]:
    """Speed, clocks, power and energy after `WARM_S` seconds of work, over `MEASURED_S` seconds."""
    busy(subject, WARM_S)
    readings: list[dict[str, float]] = []
    steps: list[tuple[float, float]] = []  # of the energy counter: (seconds, joules)
    reasons: Counter[str] = Counter()

    def look() -> None:
        readings.append(gauge.read())
        joules = board.joules()
        if not steps or joules != steps[-1][1]:
            steps.append((time.monotonic(), joules))
        reasons.update(board.reasons())

    count, seconds = busy(subject, MEASURED_S, look)
    found: dict[str, Any] = {
        "tflops": count * subject.flops / seconds / 1e12,
        "clock_mhz": subject.clock(),
        "nvml_mhz": statistics.median(r["sm_clock_mhz"] for r in readings),
        "reasons": " ".join(sorted(name for name, times in reasons.items() if times > len(readings) / 10)),
    }
    if len(steps) > 3:  # the first entry is no step: the counter was found, not seen to advance
        (begun, first), (ended, last) = steps[1], steps[-1]
        found["watts"] = (last - first) / (ended - begun)
        found["joules_per_tflop"] = found["watts"] / found["tflops"]
    return found


def burst(subject: Subject, gauge: Gauge) -> dict[str, Any]:
    """The median speed and clock of some milliseconds of work after `REST_S` seconds of rest. No energy: too short."""
    speeds, plain, clocks, readings = [], [], [], []
    subject.launch()
    subject.device.wait()
    for _ in range(BURSTS):
        speeds.append(_one_burst(subject, subject.launch, readings, gauge))
        if subject.plain:
            clocks.append(subject.mhz(subject.turn))
            plain.append(_one_burst(subject, subject.plain, readings, gauge))
    return {
        "tflops": statistics.median(speeds),
        "clock_mhz": statistics.median(clocks) if clocks else None,
        "nvml_mhz": statistics.median(r["sm_clock_mhz"] for r in readings),
        "plain_tflops": statistics.median(plain) if plain else None,
    }


def _one_burst(subject: Subject, launch: Callable[[], None], readings: list[dict[str, float]], gauge: Gauge) -> float:
    """TFLOPS of three launches after a rest and one launch more. NVML is read while they run."""
    time.sleep(REST_S)
    launch()
    first, repeats = subject.device.mark(), 3
    for _ in range(repeats):
        launch()
    last = subject.device.mark()
    readings.append(gauge.read())
    last.synchronize()
    return repeats * subject.flops / subject.device.milliseconds(first, last) / 1e9


def trace(subject: Subject, kind: str, gauge: Gauge, n: int) -> list[list[Any]]:
    """The first `TRACE_S` seconds after a second of rest: one row for each launch, and the power when it was queued.

    Up to `QUEUED` launches are in the queue at any time, so that the GPU never waits; the clocks are read afterwards,
    for as many launches as the subject has slots.
    """
    subject.device.wait()
    time.sleep(1.0)
    marks, watts, subject.turn = [subject.device.mark()], [], -1
    begun, looked, power = time.monotonic(), 0.0, float("nan")
    while time.monotonic() - begun < TRACE_S and len(watts) < len(subject.calls):
        subject.launch()
        marks.append(subject.device.mark())
        if time.monotonic() - looked > LOOK_S / 2:
            power, looked = gauge.read().get("power_w", float("nan")), time.monotonic()
        watts.append(power)
        if len(marks) > QUEUED:
            marks[-QUEUED].synchronize()
    marks[-1].synchronize()
    rows = []
    for slot, power in enumerate(watts):
        speed = subject.flops / subject.device.milliseconds(marks[slot], marks[slot + 1]) / 1e9
        at = subject.device.milliseconds(marks[0], marks[slot + 1])
        rows.append([subject.name, kind, n, at, speed, subject.mhz(slot), power])
    return rows


def binned(rows: list[list[Any]]) -> list[list[Any]]:
    """The rows of a trace with the medians of each bin of BINS; `ms` is the middle of the bin."""
    found, begin = [], 0.0
    for end, width in BINS:
        while begin < end:
            inside = [row for row in rows if begin <= row[3] < begin + width]
            if inside:
                medians = [float(np.median([row[column] for row in inside])) for column in (4, 5, 6)]
                found.append([*inside[0][:3], begin + width / 2, *medians])
            begin += width
    return found


def l2_reads(device: Device, arch: str) -> list[list[float]]:
    """How fast all SMs together read a buffer again and again past L1, for buffers of different sizes."""
    compiled = compiler.compile(READER, arch=arch, name="reader.cu", entry="reader")
    function = device.kernel(gpu_runner.payload(compiled))
    blocks, rows = device.sms * 4, []
    out, clocks = Buffer(device, 4), Buffer(device, 8 * blocks)
    for megabytes in (4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 256):
        data = Buffer(device, megabytes << 20)
        data.fill(1)
        turns = (8 << 30) // (4096 * 16 * blocks)
        arguments = [data, np.uint32(data.nbytes // 4096), np.int32(turns), out, clocks]
        call = device.launcher(function, (blocks, 1, 1), arguments, (1, 1, 1))
        call()
        speeds = []
        for _ in range(3):
            first = device.mark()
            call()
            last = device.mark()
            last.synchronize()
            taken = float(np.median(clocks.read("uint64", (blocks,)).astype(np.float64)))
            bytes_read = turns * 4096 * 16 * blocks
            speeds.append((bytes_read / device.milliseconds(first, last) / 1e9, bytes_read / taken))
        rows.append([megabytes, *max(speeds)])
        data.free()
    return rows


def record_power(
    where: Here, names: Iterable[str] = (), n: int = N, into: Path | None = None, say: Callable[[str], None] = print
) -> Path:
    """Measure all KERNELS (or `names`) and cuBLAS on all INPUTS; returns the path of the first file."""
    if not where.usable or not where.arch:
        raise LabError(f"Nothing can be measured here: {where.reason}")
    device = operations.device()
    gauge, board = Gauge(device.bus_id()), Board(device.bus_id())
    facts = gauge.describe()
    path = path_for(where.present, into or data_dir("results") / "power")
    about = [facts["gpu"], facts["driver"], ".".join(map(str, compiler.version())), commit(), datetime.date.today()]
    names, rows, traces = list(names or KERNELS), [], []
    problem = wire_problem(kernel(names[0]).problem)
    for kind in INPUTS:
        inputs = inputs_of(kind, device, problem, n)
        for name in ("cublas", *names):
            subject = Subject(name, name if name == "cublas" else kernel(name).name, device, inputs, where.arch)
            for regime, found in (("sustained", sustained(subject, gauge, board)), ("burst", burst(subject, gauge))):
                row = [subject.name, kind, regime, n, *(_text(found.get(column)) for column in COLUMNS[4:11]), *about]
                rows.append(row)
                say(", ".join(map(str, row[:11])))
            if kind in ("zeros", "normal") and name in (names[-1], names[0]):
                traced = Subject(name, subject.name, device, inputs, where.arch, slots=1800)
                traces += binned(trace(traced, kind, gauge, n))
                traced.free()
            subject.free()
        inputs.free()
    _write(path, COLUMNS, rows)
    _write(path.with_name(f"{path.stem}_trace.csv"), TRACE, [[_text(cell) for cell in row] for row in traces])
    _write(
        path.with_name(f"{path.stem}_l2.csv"),
        L2,
        [[_text(cell) for cell in row] for row in l2_reads(device, where.arch)],
    )
    return path


def _text(cell: Any) -> Any:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return ""
    return f"{cell:.5g}" if isinstance(cell, float) else cell


def _write(path: Path, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
