"""`python -m tools.recording decode`: products with few rows of A beside cuBLAS, for results/decode/<gpu>.csv.

Launches are captured in CUDA graphs, because a launch from Python takes about as long as these products. A graph has
`COUNT` launches. In one, `SETS` sets of A, B and D take turns, together more than L2 holds, so that B comes from DRAM;
in the other it is always the same set, which stays in L2. Kernels, cuBLAS and the algorithms of cuBLASLt that are the
fastest with B from DRAM take turns in both regimes of `gpu_runner.timing.rounds`.
"""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from gemm_lab.config import data_dir
from gemm_lab.lab.here import Here
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_lab.measure.benchmark import commit
from gemm_results.errors import LabError
from gemm_results.results import path_for
from gpu_runner.baselines import cublaslt
from gpu_runner.bindings import cluster_launch, driver, encode
from gpu_runner.driver import Device
from gpu_runner.timing import rounds
from gpu_runner.timing.nvml import Gauge
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.number_types import dtype_of
from gpu_simulator.hardware.tensor_map import TensorMap
from tools.recording.cards import config_text, write_rows

EDGE, ROWS, PARTS = 4096, (16, 32, 64), (1, 2, 3, 4, 8, 16)
SETS, COUNT, WORST = 8, 24, 5e-3
ROUNDS = {"sustained": 30, "burst": 6}
ALGORITHMS = 3  # of cuBLASLt that are timed, beside the one that its heuristic names first
# What a search over tiles, stages and parts found fastest on an H200.
CUT = {
    16: {"BLOCK_M": 16, "NUM_STAGES": 4},
    32: {"BLOCK_M": 32, "NUM_STAGES": 4},
    64: {"BLOCK_M": 64, "NUM_STAGES": 3},
}
CLUSTER = {
    16: {"BLOCK_M": 16, "NUM_STAGES": 4},
    32: {"BLOCK_M": 32, "BLOCK_K": 64, "NUM_STAGES": 8},
    64: {"BLOCK_M": 64, "NUM_STAGES": 4},
}
WGMMA = {16: {"BLOCK_M": 16, "NUM_STAGES": 10}, 32: {"BLOCK_M": 32}, 64: {"BLOCK_M": 64}}
COLUMNS = ("kernel", "config", "parts", "regime", "m", "n", "k", "dram_us", "l2_us", "rounds")
BEST, CONTEXT = "cublaslt_best", SimpleNamespace(running=lambda **facts: None)  # nobody watches the progress
Label = tuple[str, str, int]  # kernel, configuration, parts of K, 0 for a library


def kernels(m: int) -> list[Kernel]:
    """01; split-K in several numbers of parts, where one part does the work of 01; in a cluster; and with wgmma."""
    cut = [kernel("decode/02_split_k")(SPLIT=parts, **CUT[m]) for parts in PARTS]
    last = [kernel("decode/03_cluster")(**CLUSTER[m]), kernel("decode/04_wgmma")(**WGMMA[m])]
    return [kernel("decode/01_one_tile")(**CUT[m]), *cut, *last]


def record_decode(where: Here, into: Path | None = None) -> Path:
    """Measure, write results/decode/<gpu>.csv and <gpu>_cublas.csv, and return the path of the first."""
    if not where.usable or where.present is None:
        raise LabError(f"Nothing can be timed here: {where.reason}")
    import torch

    path = path_for(where.present, into or data_dir("results") / "decode")
    facts = {
        "gpu": where.present.name,
        "cuda": torch.version.cuda,
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
    }
    timed: list[dict[str, Any]] = []
    for m in ROWS:
        timed += [row | facts for row in _timed(torch, m, where.arch)]
        write_rows(path, timed)
    names = [(m, name, f"{spent:.2f}") for m in ROWS for name, spent in library_kernels(torch, m)]
    library = [dict(zip(("m", "kernel", "microseconds"), row, strict=True)) | facts for row in names]
    write_rows(path.with_name(f"{path.stem}_cublas.csv"), library)
    return path


def _timed(torch: Any, m: int, arch: str) -> list[dict[str, Any]]:
    """The rows with m rows of A, without the facts of the machine. Raises `LabError` for a wrong result."""
    device, rows = Device(), []
    gauge, captured = Gauge(device.bus_id()), _captured(torch, device, m, arch)
    for regime, count in ROUNDS.items():
        timed = {label: [rounds.Entry(label[0], [one.replay], 0.0) for one in both] for label, both in captured.items()}
        readings = rounds.sample(device, list(chain(*timed.values())), regime, count, gauge, CONTEXT)
        medians = {
            label: [statistics.median(entry.samples_ms) * 1e3 / COUNT for entry in both]
            for label, both in timed.items()
        }
        fastest = min((label for label in medians if label[0] == BEST), key=medians.__getitem__)
        seen = {
            name: f"{statistics.median(reading[name] for reading in readings):.0f}"
            for name in ("sm_clock_mhz", "power_w")
            if all(name in reading for reading in readings)
        }
        for label, (dram, l2) in medians.items():
            if label[0] != BEST or label == fastest:
                values = [*label, regime, m, EDGE, EDGE, f"{dram:.3f}", f"{l2:.3f}", count]
                rows.append(dict(zip(COLUMNS, values, strict=True)) | seen)
    return rows


def _captured(torch: Any, device: Device, m: int, arch: str) -> dict[Label, list[Any]]:
    """Two graphs of whatever is timed, with B from DRAM and with B in L2; cuBLAS and cuBLASLt come first."""
    a, b, d = ([torch.randn(rows, EDGE, device="cuda").bfloat16() for _ in range(SETS)] for rows in (m, EDGE, m))
    exact, stream = a[0].double() @ b[0].double().t(), torch.cuda.Stream()

    def graphs(label: Label, call: Callable, *counts: int) -> list[Any]:
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):  # a graph cannot be captured in the default stream
            for _ in range(2):  # the second launch begins with what the first has left
                d[0].fill_(float("nan"))
                call(a[0], b[0], d[0])
            if not (d[0].double() - exact).norm() / exact.norm() < WORST:  # a NaN is no small error
                raise LabError(f"{label[0]} ({label[1]}) is wrong with {m} rows of A.")
            return [_graph(torch, call, a[:sets], b[:sets], d[:sets]) for sets in counts]

    tried, refused = {}, {}
    offered = _algorithms(device, stream.cuda_stream, a, b, d)
    for name, call in offered.items():
        try:
            tried[name] = [graphs((BEST, name, 0), call, SETS)[0].replay]
        except (SimulatorError, RuntimeError) as error:
            refused[name] = str(error)
    best = [*rounds.fastest(device, CONTEXT, tried, refused, ALGORITHMS), next(iter(tried))]
    entries: dict[Label, Callable] = {("cublas", "", 0): lambda one, two, out: torch.mm(one, two.t(), out=out)}
    entries |= {(BEST, name, 0): offered[name] for name in best}
    for made in kernels(m):
        if made.spec.written_for(arch):
            label = made.name, config_text(made.config), made.config.get("SPLIT", 1)
            entries[label] = _launcher(torch, made, arch, m)
    return {label: graphs(label, call, SETS, 1) for label, call in entries.items()}


def _algorithms(device: Device, stream: int, a: list, b: list, d: list) -> dict[str, Callable]:
    """{name of an algorithm of cuBLASLt: a function of A, B and D, which are tensors of these lists}."""
    what, places = vars(kernel("decode/01_one_tile").problem), [each.data_ptr() for each in d]
    sets = [tuple(SimpleNamespace(address=one.data_ptr()) for one in three) for three in zip(a, b, d, strict=True)]
    shape = len(a[0]), EDGE, EDGE
    found = cublaslt.candidates(device, what, sets, *shape, 1.0, 0.0, what["dtype_in"], [], stream=stream)
    return {
        name: lambda one, two, out, calls=calls: calls[places.index(out.data_ptr())]() for name, calls in found.items()
    }


def _launcher(torch: Any, made: Kernel, arch: str, m: int) -> Callable:
    """A function of A, B and D, tensors on the GPU, that launches the kernel once in the current stream."""
    compiled, grid = made.compile(arch), made.grid(m, EDGE, EDGE)
    cluster, sizes = made.spec.clustered(made.config).cluster, {"m": m, "n": EDGE, "k": EDGE}
    module = driver.cuModuleLoadData(bytes(compiled.cubin))[1]
    function = driver.cuModuleGetFunction(module, compiled.entry.encode())[1]
    most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    driver.cuFuncSetAttribute(function, most, compiled.smem)
    kept: dict[int, tuple] = {}  # what the driver reads at each launch, by the address of D

    def value(token: Any, tensors: dict[str, Any]) -> np.ndarray:
        if isinstance(token, tuple):
            like = np.empty(tuple(tensors[token[1]].shape), dtype_of(made.problem.dtype_in))
            room = np.zeros(192, np.uint8)
            found = room[-room.ctypes.data % 64 :][:128]
            found[:] = np.frombuffer(encode(TensorMap.of(like, *token[2:]), tensors[token[1]].data_ptr()), np.uint8)
            return found
        return (
            np.array([sizes[token]], np.int32) if token in sizes else np.array([tensors[token].data_ptr()], np.uint64)
        )

    def launch(a: Any, b: Any, d: Any) -> None:
        if d.data_ptr() not in kept:
            values = [value(token, {"a": a, "b": b, "d": d}) for token in made.problem.tokens]
            kept[d.data_ptr()] = values, np.array([each.ctypes.data for each in values], np.uint64)
        stream = torch.cuda.current_stream().cuda_stream
        pointers = kept[d.data_ptr()][1].ctypes.data
        status = cluster_launch(function, grid, compiled.threads, compiled.smem, cluster, pointers, stream)()
        if status:
            raise LabError(f"{made.label} cannot be launched: CUDA error {status}.")

    return launch


def _graph(torch: Any, call: Callable, a: list, b: list, d: list) -> Any:
    """A graph of `COUNT` launches, captured in the current stream."""
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    graph.capture_begin()
    try:
        for number in range(COUNT):
            call(a[number % len(a)], b[number % len(b)], d[number % len(d)])
    finally:
        graph.capture_end()
    return graph


def library_kernels(torch: Any, m: int) -> list[tuple[str, float]]:
    """(name, microseconds) of the kernels that cuBLAS launches for m rows of A, by PyTorch's profiler."""
    from torch.profiler import ProfilerActivity, profile

    a, b = (torch.randn(rows, EDGE, device="cuda").bfloat16() for rows in (m, EDGE))
    torch.mm(a, b.t())
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        torch.mm(a, b.t())
        torch.cuda.synchronize()
    return [(each.key, each.device_time_total) for each in found.key_averages() if each.device_time_total]
