"""The GPU: launch a compiled kernel in a worker process that may crash or hang without harm."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_runner import remote, settings
from gpu_runner.faults import DeviceOutOfMemory, GpuBusy, KernelFault, KernelHang, WorkerLost
from gpu_runner.postmortem.examination import Finding, examine, payload, read_assert
from gpu_runner.session import Session, Silence
from gpu_simulator.errors import LaunchError
from gpu_simulator.hardware import data_sheets as hardware

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
    """True when a kernel can be launched: Linux, an NVIDIA driver, a GPU and CuPy, here or on the server.

    With GEMM_LAB_SERVER set, a `ServerError` if the server cannot be used.
    """
    return why_not() == ""


def why_not() -> str:
    """One sentence on why there is no GPU here and what would help; empty if there is one."""
    if settings.server():
        return "" if remote.present() else "The server has no GPU."
    if not sys.platform.startswith("linux"):
        return "The GPU is used on Linux only (on Windows, inside WSL 2); here the emulator runs the kernels."
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return "CUDA_VISIBLE_DEVICES hides every GPU; unset it to use one."
    present = hardware.detect()
    if present is None:
        return "No NVIDIA driver or GPU was found; type nvidia-smi to see what the driver sees."
    if importlib.util.find_spec("cupy") is None:
        extra = "cuda13" if present.driver[0] >= 13 else "cuda12"
        return f"CuPy is not installed, which drives the GPU; type `pip install 'gemm_lab[{extra}]'`."
    return ""


def session() -> Session | remote.RemoteSession:
    """The one GPU worker of this process, which starts at its first request and again after a crash; or the server."""
    return remote.server() or _own_session()


@lru_cache(maxsize=1)
def _own_session() -> Session:
    return Session()


def present() -> hardware.Present | None:
    """The GPU that `launch` uses, on this machine or on the server; None without one."""
    return remote.present() if settings.server() else hardware.detect()


def emulating_server() -> remote.RemoteSession | None:
    """The server that GEMM_LAB_SERVER names, if it emulates; None where launches are emulated here."""
    found = remote.server()
    return found if found is not None and found.facts()["backend"] == "emulator" else None


def holder() -> str:
    """Which other program has this machine's GPU now, such as "ada is measuring 4 kernels, 12 s"; "" if it is free."""
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
    names: Sequence[str] | None = None,
) -> list[np.ndarray]:
    """Launch once and return the arrays of `args` as they are afterwards (all, or those at positions `outputs`).

    `args` are NumPy arrays (bf16 as ml_dtypes.bfloat16), `TensorMap`s of such arrays, ints (C int), floats (C float)
    or bytes (a struct by value), in the kernel's parameter order; an array that only maps name counts where the first
    of them stands; `names` are the parameters' names, for messages. Device printf is in
    `session().output`. After `timeout_s` (default: GEMM_LAB_TIMEOUT_S if set, else 6 s) the kernel counts as
    hanging. Raises LaunchError, KernelFault, KernelHang, DeviceOutOfMemory, WorkerLost.
    """
    answer = run_guarded(
        compiled,
        "launch",
        grid=tuple(grid),
        args=args,
        cluster=tuple(cluster),
        timeout_s=timeout_s,
        names=names,
        compiled=payload(compiled),
        outputs=None if outputs is None else list(outputs),
    )
    return list(answer["arrays"].values())


def run_guarded(
    kernel: Any,
    op: str,
    *,
    grid: tuple[int, int, int],
    args: Sequence[Any] | Callable[[], Sequence[Any]],
    cluster: tuple[int, int, int],
    timeout_s: float | None,
    names: Sequence[str] | None = None,
    flops: float = 0.0,
    **fields: Any,
) -> Any:
    """A request that launches `kernel`; a fault or a hang is examined and raised with the learner's line.

    `args` are the kernel's arguments, or a function that makes them for the examination, where the worker made
    its own. `names` are the parameters' names. Without `timeout_s` and GEMM_LAB_TIMEOUT_S, the kernel has 6 s and
    what its `flops` take at 0.1 TFLOPS: an allowance for slow kernels, not a measurement.
    """
    chosen = settings.timeout_s(LAUNCH_TIMEOUT_S + flops / SLOWEST_FLOPS)
    if not callable(args):
        fields["args"] = args

    def found(hang: bool) -> Finding:
        given = args() if callable(args) else args
        return examine(kernel, grid=grid, args=given, cluster=cluster, hang=hang, names=names)

    try:
        return session().request(op, timeout_s=timeout_s or chosen, grid=grid, cluster=cluster, **fields)
    except KernelFault as fault:
        seen = read_assert(fault.output, kernel) or found(hang=False)
        detail = seen.detail if seen.line is not None else f"{fault.detail} {seen.detail}"
        raise KernelFault(
            fault.kind,
            detail,
            seen.file,
            seen.line,
            seen.thread,
            seen.block,
            seen.address,
            seen.nearest,
            seen.text,
            fault.output,
        ) from None
    except Silence as silence:
        if not silence.running:
            raise WorkerLost(
                f"The GPU worker said nothing for {silence.seconds:g} s while it prepared “{op}”; it was stopped, "
                "and the next request starts a new one.",
                silence.output,
            ) from None
        seen = found(hang=True)
        raise KernelHang(
            silence.seconds, seen.detail, seen.file, seen.line, seen.thread, seen.block, seen.text, silence.output
        ) from None
