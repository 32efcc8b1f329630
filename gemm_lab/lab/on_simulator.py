"""Runs a Kernel on the simulator: the same checks as on a GPU, and counts for every line of its source."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import gpu_simulator
from gemm_lab import config
from gemm_lab.lab.actions.source import text
from gemm_lab.lab.launchable import Launchable
from gemm_lab.lab.measuring import check_kernel, smallest_size
from gemm_lab.measure.check import Verdict
from gemm_lab.measure.inputs import make_inputs
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.tensor_map import TensorMap, arrays_of
from gpu_simulator.kernel_file import KernelFile
from gpu_simulator.layouts.studied_launch import StudiedLaunch, studied_launch
from gpu_simulator.memory_limit import VARIABLE, in_words, limit_bytes

if TYPE_CHECKING:
    from gpu_simulator import Report
    from gpu_simulator.compiler import Compiled

SECONDS_WITHOUT_ASKING, WORD_S = 60.0, 15.0
INSTRUCTION_S, STEP_S = (
    0.4e-6,
    10e-6,
)  # seconds that the simulator takes for a warp instruction, and for a step of all lanes, on two cores
# Warp instructions that a kernel may execute. The limit is at least 20 times what any kernel of the catalogue and any
# correct answer needs (simt/01 to 03 need most: one instruction for five or six products), and it is small enough that
# an endless loop is found soon.
FREE_INSTRUCTIONS, INSTRUCTIONS_PER_PRODUCT = 2_000_000, 4.0
WHOLE_TILE = 128  # a kernel for any size computes whole tiles, even if D has fewer rows or columns than a tile
# Steps that a kernel may take (see `gpu_simulator.effort`). They find an endless loop of a few lanes, which executes
# few warp instructions. The limit is `MARGIN` times a bound that no kernel of the catalogue and no correct answer
# exceeds at any size. The bound has a part for each launch, a part for each k (the longest loop over k is that of
# simt/04), and a part that grows with the number of blocks. Neither limit is a time, so the verdict is the same on a
# machine that is slow, busy, or suspended during a run.
MARGIN, STEPS_OF_A_LAUNCH, STEPS_FOR_EACH_K, PRODUCTS_A_STEP = 20, 25_000, 110, 4096
# Peak memory of a checked run, in bytes for each element of A and B, and of C and D. It holds the inputs, their copies,
# the simulator's own data and the exact result. Measured as the growth of the process, for sizes from 1024³ to
# 8192 × 2048 × 32, in FP16 and FP32.
BYTES_OF_INPUTS, BYTES_OF_RESULTS = 20, 35


def budget(m: int, n: int, k: int) -> int:
    """The number of warp instructions allowed for an m × n × k product: about 20 times what the naive kernel needs."""
    return FREE_INSTRUCTIONS + int(INSTRUCTIONS_PER_PRODUCT * max(m, WHOLE_TILE) * max(n, WHOLE_TILE) * k)


def step_budget(m: int, n: int, k: int) -> int:
    """The number of simulator steps allowed for an m × n × k product: `MARGIN` times what correct kernels need."""
    return MARGIN * (STEPS_OF_A_LAUNCH + STEPS_FOR_EACH_K * k + m * n * k // PRODUCTS_A_STEP)


def limits(m: int, n: int, k: int) -> dict[str, int]:
    """The limits for one launch of an m × n × k product, as keyword arguments of `launch`."""
    return {"max_instructions": budget(m, n, k), "max_steps": step_budget(m, n, k)}


def launch(
    compiled: Compiled, grid: Sequence[int], args: Sequence[Any], cluster=(1, 1, 1), **options: Any
) -> tuple[list[np.ndarray], Report]:
    """Run a kernel once on the simulator; returns the arrays of `args` as they are afterwards, and the report.

    The arrays in `args` are not changed. If GEMM_LAB_SERVER names a server whose workers run the simulator, the kernel
    runs there. options: keyword arguments of `gpu_simulator.launch`, such as its limits; without limits, only the stop
    button ends a launch that hangs. Raises what `gpu_simulator.launch` raises.
    """
    if config.names_a_server() and (server := _simulating_server()) is not None:
        if "placement" in options:
            options["placement"] = vars(options["placement"])
        facts = {name: getattr(compiled, name) for name in ("name", "ptx", "entry", "threads", "dynamic_smem")}
        answer = server.request(
            "simulate",
            compiled=facts | {"files": dict(compiled.files)},
            grid=tuple(grid),
            args=list(args),
            cluster=tuple(cluster),
            **options,
        )
        return answer["arrays"], answer["report"]
    copies, arrays = copied(args)
    report = gpu_simulator.launch(
        compiled, compiled.entry, tuple(grid), (compiled.threads, 1, 1), copies, cluster=cluster, **options
    )
    return arrays, report


def _simulating_server() -> Any:
    """The server that GEMM_LAB_SERVER names, if its workers run the simulator; None otherwise."""
    import gpu_runner as device
    from gemm_lab.lab import known_types  # noqa: F401  registers the types of a server's reports

    return device.simulating_server()


def copied(args: Sequence[Any]) -> tuple[list[Any], list[np.ndarray]]:
    """The arguments with their arrays replaced by copies, and the list of copies in the order of `arrays_of`."""
    arrays = arrays_of(args)
    made = {id(array): array.copy() for array in arrays}

    def copy(value: Any) -> Any:
        if isinstance(value, TensorMap):
            return replace(value, array=made[id(value.array)])
        return made[id(value)] if isinstance(value, np.ndarray) else value

    return [copy(value) for value in args], [made[id(array)] for array in arrays]


def check_on_simulator(
    kernel: Launchable,
    compiled: Compiled,
    m: int,
    n: int,
    k: int,
    seed: int = 0,
    sms: int | None = None,
    exact: bool | None = None,
) -> tuple[list[Verdict], Report]:
    """Do the checks of `check_kernel` on the simulator.

    Returns their verdicts, and the simulator's report of the first launch. sms: see `Kernel.grid`.   exact: that of
    `gpu_simulator.launch`.
    """
    reports: list[Report] = []

    def machine(compiled, *, grid, args, cluster):
        arrays, report = launch(compiled, grid, args, cluster, exact=exact, **limits(m, n, k))
        reports.append(report)
        return arrays

    with still_at_work(f"{kernel.label} at {m} × {n} × {k}"):
        verdicts = check_kernel(kernel, compiled, m, n, k, seed, machine, sms)
    return verdicts, reports[0]


_told: list[str] = []  # the pieces of work in progress, outermost first; one may be part of another


@contextmanager
def still_at_work(what: str, after_s: float | None = None) -> Iterator[None]:
    """Context manager that prints to stderr that `what` is still running if it takes longer than `after_s` seconds.

    The default is 15 s. If several are nested, only the outermost one prints.
    """
    word = threading.Timer(WORD_S if after_s is None else after_s, _say, [what])
    word.daemon = True
    _told.append(what)
    try:
        if len(_told) == 1:
            with suppress(RuntimeError):  # a web page can start no thread
                word.start()
        yield
    finally:
        word.cancel()
        _told.remove(what)


def _say(what: str) -> None:
    print(f"Still running: {what}. The stop button stops it; in a terminal Ctrl-C.", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Hazards:
    """The result of a search for hazards.

    size: (m, n, k) of the launches. reports: the simulator's report of each launch, by its timing, "early" or "late".
    """

    size: tuple[int, int, int]
    reports: dict[str, Report] = field(repr=False)

    @property
    def found(self) -> list:
        """The hazards, those between the most distant threads first. One that both timings show is listed once."""
        every = {str(hazard): hazard for report in reversed(self.reports.values()) for hazard in report.hazards}
        order = dict.fromkeys(str(hazard) for report in self.reports.values() for hazard in report.hazards)
        return gpu_simulator.widest_first([every[text] for text in order])


def find_hazards(kernel: Launchable, compiled: Compiled, sms: int | None = None) -> Hazards:
    """Look for races, uninitialised reads and missing waits with both timings of asynchronous copies.

    The product has two block tiles along N and fills each pipeline stage twice. sms: see `Kernel.grid`.
    """
    size = hazard_size(kernel, sms)
    reports = {timing: search(kernel, compiled, size, timing, sms) for timing in ("early", "late")}
    return Hazards(size, reports)


def hazard_size(kernel: Launchable, sms: int | None = None) -> tuple[int, int, int]:
    """(m, n, k) of the launches in which hazards are looked for."""
    m, n, k = smallest_size(kernel)
    # A race between blocks needs two blocks. With sms=2, five tiles give one persistent block three and the other two.
    n *= 2 if config.sms(sms) is None else 5
    return m, n, k * kernel.config.get("NUM_STAGES", 1)


def search(
    kernel: Launchable, compiled: Compiled, size: tuple[int, int, int], timing: str, sms: int | None = None
) -> Report:
    """Launch once on small integers, look for hazards, and return the report. timing: "early" or "late"."""
    return counted(kernel, compiled, size, sms, observers=("hazards",), timing=timing)


def counted(
    kernel: Launchable, compiled: Compiled, size: tuple[int, int, int], sms: int | None = None, **options: Any
) -> Report:
    """Launch once on small integers and return the report. options: of `launch`, besides its limits."""
    args = make_inputs(kernel.problem, *size).arguments()
    return launch(compiled, kernel.grid(*size, sms), args, kernel.spec.cluster, **limits(*size), **options)[1]


def study(kernel: Launchable, compiled: Compiled, size: tuple[int, int, int], sms: int | None = None) -> StudiedLaunch:
    """Launch once on small integers, with every access recorded and other layouts of the shared arrays tried."""
    inputs, block = make_inputs(kernel.problem, *size, "integers", 0), (compiled.threads, 1, 1)
    found = KernelFile(compiled, compiled.entry, text(kernel), kernel.spec.file)
    options = {"cluster": kernel.spec.cluster, "defines": kernel.config, **limits(*size)}
    return studied_launch(found, kernel.grid(*size, sms), block, inputs.arguments(), **options)


@dataclass(frozen=True)
class Small:
    """The simulator's counts at a small size, shown with a run on a GPU; or `stopped`, the reason why there are none.

    The simulator may stop at a kernel that gave the right result on a GPU: at a fault that did no harm there, or at an
    instruction that the simulator does not support. size: (m, n, k).
    """

    size: tuple[int, int, int]
    report: Report | None = field(default=None, repr=False)
    stopped: str = ""


def small_size(kernel: Launchable, m: int, n: int, k: int) -> tuple[int, int, int]:
    """The size at which the simulator counts for a GPU run at m × n × k: the smaller of this and `smallest_size`."""
    return min(smallest_size(kernel), (m, n, k), key=math.prod)


def count_small(kernel: Launchable, compiled: Compiled, m: int, n: int, k: int, sms: int | None = None) -> Small:
    """Check and count on the simulator at the `small_size` of a run. Errors are returned as `Small.stopped`."""
    size = small_size(kernel, m, n, k)
    try:
        return Small(size, check_on_simulator(kernel, compiled, *size, 0, sms)[1])
    except SimulatorError as error:
        return Small(size, stopped=str(error))


def estimate_s(kernel: Launchable, compiled: Compiled, m: int, n: int, k: int, sms: int | None = None) -> float:
    """The estimated seconds of one m × n × k launch on two cores.

    This extrapolates linearly from the instructions and steps of two launches, of about 128³ and 256³. It uses counts
    and not a clock, so the result is the same on every machine.
    """
    points = []
    for edge in (128, 256):
        size = tuple(-(-edge // step) * step for step in kernel.spec.size_multiples(kernel.config).values())
        report = counted(kernel, compiled, size, sms)
        points.append((math.prod(size), INSTRUCTION_S * report.instructions + STEP_S * report.steps))
    (small, quick), (large, slow) = points
    slope = max(slow - quick, 0.2 * slow) / max(large - small, large / 2)
    return quick + slope * (m * n * k)


def require_memory(kernel: Launchable, m: int, n: int, k: int) -> None:
    """Raise a `LabError` if a checked run needs more memory than a launch may use here."""
    needed, limit = BYTES_OF_INPUTS * (m + n) * k + 2 * BYTES_OF_RESULTS * m * n, limit_bytes(None)
    if needed > limit:
        edge = int((limit / 2 / (BYTES_OF_INPUTS + BYTES_OF_RESULTS)) ** 0.5) // 128 * 128
        raise LabError(
            f"{kernel.name} at {m} × {n} × {k} would need about {in_words(needed)} of memory on the "
            f"simulator with its copies and the exact result, and {in_words(limit)} may be used. "
            + (
                f"Choose a smaller size; {edge} × {edge} × {edge} would fit."
                if edge
                else f"Close programs that use much memory, or raise {VARIABLE} if it is set."
            )
        )


def require_patience(
    kernel: Launchable, compiled: Compiled, m: int, n: int, k: int, sure: bool, sms: int | None = None
) -> None:
    """Raise a `LabError` if a run needs too much memory, or if it takes more than a minute and `sure` is False."""
    require_memory(kernel, m, n, k)
    if m * n * k <= 640**3:
        return
    seconds = 2 * estimate_s(kernel, compiled, m, n, k, sms)
    if seconds > SECONDS_WITHOUT_ASKING and not sure:
        raise LabError(
            f"{kernel.name} at {m} × {n} × {k} would take about {_minutes(seconds)} on the simulator. "
            "Choose a smaller size, or confirm that you want to wait: run(…, sure=True), or --yes."
        )


def _minutes(seconds: float) -> str:
    count = max(round(seconds / 60), 1)
    return "1 minute" if count == 1 else f"{count} minutes"
