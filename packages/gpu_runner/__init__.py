"""Launches compiled kernels on a GPU. They run in a worker process, so a crash or a hang does not harm the notebook."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_runner import remote, settings
from gpu_runner.faults import DeviceOutOfMemory, GpuBusy, KernelFault, KernelHang, WorkerLost
from gpu_runner.postmortem import Finding, examine, read_assert
from gpu_runner.refusals import parameter_bytes
from gpu_runner.session import Session, Silence
from gpu_simulator.errors import LaunchError
from gpu_simulator.hardware import data_sheets as hardware
from gpu_simulator.hardware import presence

LAUNCH_TIMEOUT_S, SLOWEST_FLOPS = 6.0, 1e11

__all__ = [
    "DeviceOutOfMemory",
    "GpuBusy",
    "KernelFault",
    "KernelHang",
    "LaunchError",
    "Session",
    "Silence",
    "WorkerLost",
    "available",
    "holder",
    "launch",
    "payload",
    "run_guarded",
    "session",
    "why_not",
]


def available() -> bool:
    """Whether `launch` can run a kernel on a GPU.

    With GEMM_LAB_SERVER set, this asks the server, and raises `ServerError` if the server cannot be used. Otherwise it
    needs Linux, an NVIDIA driver, a GPU and CuPy on this machine.
    """
    return why_not() == ""


def why_not() -> str:
    """One sentence that says why no GPU can be used and what would help; "" if one can be used."""
    if settings.server():
        return "" if remote.present() else "The server has no GPU."
    if why := presence.why_none():
        return why
    if importlib.util.find_spec("cupy") is None:
        extra = "cuda13" if hardware.detect().driver[0] >= 13 else "cuda12"
        return f"CuPy is not installed, which drives the GPU; type `{settings.install_command(extra)}`."
    return ""


def session() -> Session | remote.RemoteSession:
    """The session for GPU requests: the server's if GEMM_LAB_SERVER is set, else the one of this process's own worker.

    There is one such worker. It starts at the first request, and again after a crash.
    """
    return remote.server() or _own_session()


@lru_cache(maxsize=1)
def _own_session() -> Session:
    return Session()


def present() -> hardware.Present | None:
    """The GPU that `launch` uses, on this machine or on the server; None if there is none."""
    return remote.present() if settings.server() else hardware.detect()


def simulating_server() -> remote.RemoteSession | None:
    """The session of the server that GEMM_LAB_SERVER names, if its workers run the simulator; None otherwise."""
    found = remote.server()
    return found if found is not None and found.facts()["backend"] == "simulator" else None


def holder() -> str:
    """Who is using this machine's GPU now, such as "ada is measuring 4 kernels, 12 s".

    "" if nobody is, if there is no GPU, or if launches go to a server.
    """
    queue = session().queue
    return queue.holder() if queue is not None else ""


def launch(
    compiled: Any,
    *,
    grid: tuple[int, int, int],
    args: Sequence[Any],
    cluster: tuple[int, int, int] = (1, 1, 1),
    timeout_s: float | None = None,
    outputs: Sequence[int] | None = None,
) -> list[np.ndarray]:
    """Launch a kernel once and return its arrays as they are afterwards: all of them, or those at positions `outputs`.

    `args` are in the order of the kernel's parameters: NumPy arrays (bf16 as ml_dtypes.bfloat16), `TensorMap`s of such
    arrays, ints (C int), floats (C float) or bytes (a struct by value). The position of an array that is only used by
    tensor maps is that of the first of these maps. What the kernel printed
    is in `session().output`. After `timeout_s` seconds (default: GEMM_LAB_TIMEOUT_S if it is set, else 6) the
    kernel counts as hanging. Raises LaunchError, KernelFault, KernelHang, DeviceOutOfMemory, WorkerLost, GpuBusy, and
    ServerError if a server is used.
    """
    answer = run_guarded(
        compiled,
        "launch",
        grid=tuple(grid),
        args=args,
        cluster=tuple(cluster),
        timeout_s=timeout_s,
        compiled=payload(compiled),
        outputs=None if outputs is None else list(outputs),
    )
    return list(answer["arrays"].values())


def payload(compiled: Any) -> dict[str, Any]:
    """The fields of a `Compiled` that the worker needs, and the sizes of the kernel's parameters in bytes."""
    facts = {
        name: getattr(compiled, name) for name in ("key", "name", "arch", "entry", "cubin", "threads", "dynamic_smem")
    }
    return facts | {"parameters": parameter_bytes(getattr(compiled, "ptx", ""), compiled.entry)}


def run_guarded(
    kernel: Any,
    op: str,
    *,
    grid: tuple[int, int, int],
    args: Sequence[Any] | Callable[[], Sequence[Any]],
    cluster: tuple[int, int, int],
    timeout_s: float | None,
    flops: float = 0.0,
    **fields: Any,
) -> Any:
    """Send a request that launches `kernel`, and return its result.

    After a fault or a hang, the simulator runs the same launch (`postmortem`), and the `KernelFault` or `KernelHang`
    that is raised names the learner's line where it was found. `args` are the kernel's arguments, or, if the worker
    makes its own inputs, a function that returns arguments for the simulator. The default of `timeout_s` is
    GEMM_LAB_TIMEOUT_S if it is set, else 6 s plus the time that `flops` take at 0.1 TFLOPS. This rate is an allowance
    for slow kernels, not a measurement.
    """
    chosen = settings.timeout_s(LAUNCH_TIMEOUT_S + flops / SLOWEST_FLOPS)
    if not callable(args):
        fields["args"] = args

    def found(hang: bool) -> Finding:
        given = args() if callable(args) else args
        return examine(kernel, grid=grid, args=given, cluster=cluster, hang=hang)

    try:
        return session().request(op, timeout_s=timeout_s or chosen, grid=grid, cluster=cluster, **fields)
    except KernelFault as fault:
        seen = read_assert(fault.output, kernel) or found(hang=False)
        detail = seen.detail if seen.line is not None else f"{fault.detail} {seen.detail}"
        raise KernelFault(fault.kind, detail, seen.file, seen.line, seen.text, fault.output) from None
    except Silence as silence:
        if not silence.running:
            raise WorkerLost(
                f"The GPU worker said nothing for {silence.seconds:g} s while it prepared “{op}”; it was stopped, "
                "and the next request starts a new one.",
                silence.output,
            ) from None
        seen = found(hang=True)
        raise KernelHang(silence.seconds, seen.detail, seen.file, seen.line, seen.text, silence.output) from None
