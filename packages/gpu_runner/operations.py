"""The operations of the worker, by name. Each takes (context, **payload) and returns plain data.

hello      -> facts about the GPU
launch     compiled, grid, cluster, args -> the arrays among args, after the launch
verify     the check of large sizes (`timing.verify.verify`)
benchmark  time kernels and baselines in turn (`timing.rounds.benchmark`)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from gpu_runner.driver import Device
from gpu_simulator.hardware.number_types import name_of


@lru_cache(maxsize=1)
def device() -> Device:
    """The GPU, opened at the first request that needs it."""
    return Device()


@lru_cache(maxsize=1)
def support() -> Any:
    """The support kernels on this process's device, compiled once."""
    from gpu_runner.support import Support

    return Support(device())


@lru_cache(maxsize=1)
def blas() -> Any:
    """cuBLAS on this process's device, opened once."""
    from gpu_runner.baselines.cublas import Blas

    return Blas(device())


def explained(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an operation so that CuPy's errors become the lab's (see `Device.explained`)."""

    @wraps(operation)
    def run(context: Any, **payload: Any) -> Any:
        with device().explained():
            return operation(context, **payload)

    return run


@explained
def hello(context: Any) -> dict[str, Any]:
    """Facts about the GPU, which the notebook asks for before it sends work.

    "capability" is (major, minor), "sms" the number of SMs; "l2_bytes", "free" and "total" are bytes of L2, free and
    total memory; "cuda" is the newest CUDA version of the driver. `Gauge.describe` adds its facts.
    """
    from gpu_runner.timing.nvml import Gauge

    gpu = device()
    free, total = gpu.memory()
    return {
        "capability": gpu.capability,
        "sms": gpu.sms,
        "l2_bytes": gpu.l2_bytes,
        "free": free,
        "total": total,
        "cuda": gpu.driver_version(),
        **Gauge(gpu.bus_id()).describe(),
    }


@explained
def launch(
    context: Any,
    *,
    compiled: dict[str, Any],
    grid: tuple[int, int, int],
    args: list[Any],
    cluster: tuple[int, int, int] = (1, 1, 1),
    outputs: list[int] | None = None,
) -> dict[str, Any]:
    """Launch once. Returns {"arrays": {position in args: array after the launch}, "milliseconds": time of the launch}.

    `outputs` are the positions of the arrays to copy back (None: all). The position of an array that is only used by
    tensor maps is that of the first of these maps.
    """
    gpu = device()
    function = gpu.kernel(compiled)
    buffers = {}
    try:
        start = gpu.launcher(function, grid, gpu.upload_all(args, buffers), cluster)
        gpu.wait()
        context.running()
        begin = gpu.mark()
        start()
        end = gpu.mark()
        gpu.wait()
        wanted = sorted(buffers) if outputs is None else outputs
        given = {i: getattr(args[i], "array", args[i]) for i in wanted}
        arrays = {i: buffers[i].read(name_of(array.dtype), array.shape) for i, array in given.items()}
        return {"arrays": arrays, "milliseconds": gpu.milliseconds(begin, end)}
    finally:
        for buffer in buffers.values():
            buffer.free()


@explained
def verify(context: Any, **payload: Any) -> dict[str, Any]:
    """See `gpu_runner.timing.verify.verify`."""
    from gpu_runner.timing.verify import verify as run

    return run(device(), support(), blas(), context, **payload)


@explained
def benchmark(context: Any, **payload: Any) -> dict[str, Any]:
    """See `gpu_runner.timing.rounds.benchmark`."""
    from gpu_runner.timing.rounds import benchmark as run

    context.progress(stage="preparing")
    return run(device(), support(), blas(), context, **payload)


OPERATIONS = {"hello": hello, "launch": launch, "verify": verify, "benchmark": benchmark}
