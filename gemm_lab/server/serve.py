"""`gemm-lab serve` and `gemm-lab worker`: a scheduler with its queue, and a process for each GPU that comes back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence

from gemm_lab import device, hardware
from gemm_lab.device.remote import RESOURCE
from gemm_lab.device.server_link import CONNECT_S
from gemm_lab.errors import ConfigError, LabError, MissingDependency

START_S = 60.0
WORKER = "gemm_lab.server.worker"  # what a worker loads


def dask():
    """The package `distributed`, quiet; a `MissingDependency` without it."""
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "error")
    try:
        import distributed
    except ImportError:
        raise MissingDependency("A GPU server needs Dask; type `pip install 'gemm_lab[classroom]'`.") from None
    return distributed


def environments(backend: str, count: int | None) -> list[dict[str, str]]:
    """The environment variables of each worker: one for every visible GPU, or `count` that emulate.

    A worker neither asks another server nor sees another worker's GPU. Raises `LabError` for a GPU that is not there.
    """
    os.environ.pop("GEMM_LAB_SCHEDULER", None)  # of this machine, not of a server
    usable = backend != "emulator" and device.available()
    if backend == "gpu" and not usable:
        raise LabError(f"The GPU cannot be used: {device.why_not()} `--backend emulator` starts workers that emulate.")
    if count is not None and count < 0:
        raise ConfigError(f"--workers is {count}; give the number of workers, 0 for a scheduler alone.")
    shared = {"GEMM_LAB_SCHEDULER": "", "GEMM_LAB_BACKEND": "gpu" if usable else "emulator"}
    if not usable:
        threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        return [{**shared, **threads} for _ in range(1 if count is None else count)]
    named = os.environ.get("CUDA_VISIBLE_DEVICES", "").strip()
    visible = named.split(",") if named else [str(number) for number in range(hardware.count())]
    return [{**shared, "CUDA_VISIBLE_DEVICES": one.strip()} for one in visible[:count]]


async def serve(host: str, port: int, workers: Sequence[dict[str, str]], say: Callable[[str], None]) -> None:
    """Run a scheduler and its workers on this machine until interrupted. `say` gets the address once all are there."""
    distributed = dask()
    try:
        scheduler = distributed.Scheduler(
            host=host or None, port=port, dashboard_address="127.0.0.1:0", dashboard=False,
            preload=["gemm_lab.server.fair_queue"],
        )
        await scheduler
    except (OSError, RuntimeError) as error:
        where, why = host or "this machine", error.__cause__ or error
        raise LabError(f"Port {port} of {where} cannot be used ({why}); choose another: --port.") from None
    async with scheduler:
        await _work(distributed, scheduler.address, workers, say)
        await scheduler.finished()


async def work(address: str, workers: Sequence[dict[str, str]], say: Callable[[str], None]) -> None:
    """Add this machine's workers to a server, until interrupted or the server ends."""
    distributed = dask()
    try:
        async with distributed.rpc(address, timeout=CONNECT_S) as scheduler:
            found = await asyncio.wait_for(scheduler.gemm_lab_workers(), CONNECT_S)
    except (Exception, asyncio.TimeoutError):
        found = None
    if found is None:
        raise LabError(f"No gemm_lab server answers at {address}; start one there with `gemm-lab serve`.")
    nannies = await _work(distributed, address, workers, say)
    await asyncio.gather(*(nanny.finished() for nanny in nannies))


async def _work(distributed, address: str, workers: Sequence[dict[str, str]], say: Callable[[str], None]) -> list:
    nannies = [
        distributed.Nanny(
            address, nthreads=1, resources={RESOURCE: 1}, env=variables, preload=[WORKER],
            dashboard=False, name=f"{os.uname().nodename}-{os.getpid()}-{number}",
        )
        for number, variables in enumerate(workers)
    ]
    try:
        await asyncio.wait_for(asyncio.gather(*nannies), START_S)
    except asyncio.TimeoutError:
        raise LabError(f"The workers did not start within {START_S:.0f} s.") from None
    kinds = [variables["GEMM_LAB_BACKEND"] for variables in workers]
    found = ", ".join(f"{kinds.count(kind)} × {kind}" for kind in dict.fromkeys(kinds)) or "none yet"
    say(f"Workers here: {found}. On the students' machines: GEMM_LAB_SCHEDULER={address}")
    return nannies
