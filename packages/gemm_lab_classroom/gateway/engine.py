"""The workers of a server. Dask starts them, sends jobs to them, and restarts them when they end.

Dask's scheduler and nannies run in the gateway's process, and each worker runs in a separate process. They communicate
over Unix sockets in a folder that belongs to the server's user (`unix_sockets`). The request and the answer of a job
are files in that folder. Students have no access to any of this.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gemm_results.errors import LabError
from gpu_runner import settings
from gpu_runner.remote import KEY
from gpu_simulator.errors import MissingDependency

START_S = 60.0
# A worker sends a heartbeat twice a second. After 2 s without one it gets no new job; after 10 s it is replaced.
TICK_S, DOUBTFUL_TICKS, SILENT_TICKS = 0.5, 4, 20
REVIVE_TICKS, GONE_TICKS = 20, 4
SAFE_DELAY_S = 2.0  # if a tick comes later than this, the gateway itself was suspended
WORKER = "gemm_lab_classroom.gateway.worker"  # the module that a worker loads

ENDED = "ended"
SILENT = f"gave no sign of life for {SILENT_TICKS * TICK_S:.0f} s and was replaced"


def dask() -> Any:
    """The package `distributed`, with its logging turned off. Raises `MissingDependency` if it is not installed."""
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    try:
        import distributed
    except ImportError:
        typed = settings.install_command("classroom")
        raise MissingDependency(f"A GPU server needs Dask; type `{typed}`.") from None
    return distributed


class WorkerEnded(Exception):
    """A worker ended or was ended during a job. `str(error)` says how, such as "ended" or "gave no sign of life …"."""


class Engine:
    """Starts and monitors the workers, one for each item of `environments`, and runs jobs on them.

    `changed` is called regularly, since a worker may have become free or may be gone.
    """

    def __init__(self, folder: Path, environments: Sequence[dict[str, str]], changed: Callable[[], None]) -> None:
        self.folder, self.environments, self.changed = folder, environments, changed
        self.nannies: list[Any] = []
        self._why: dict[str, str] = {}  # address of a worker that `end` has ended -> the reason
        self._silent: dict[str, tuple[float, int]] = {}
        self._down: dict[int, int] = {}
        self._tasks: set[asyncio.Task] = set()

    async def start(self) -> None:
        """Start the scheduler, the workers and their monitoring. Raises `LabError` if the workers do not start."""
        distributed = dask()
        from gemm_lab_classroom.gateway.unix_sockets import SCHEME, QuietScheduler, QuietWorker

        host = f"{SCHEME}://{self.folder}"
        self.scheduler = await QuietScheduler(host=host, port=0, protocol=SCHEME, dashboard=False)
        self.scheduler.allowed_failures = 0  # no second attempt, since the job may have been why the worker ended
        self.client = await distributed.Client(self.scheduler.address, asynchronous=True, set_as_default=False)
        self.nannies = [
            distributed.Nanny(
                self.scheduler.address,
                host=host,
                protocol=SCHEME,
                worker_class=QuietWorker,
                nthreads=1,
                env=variables,
                preload=[WORKER],
                dashboard=False,
                name=f"worker-{number}",
                local_directory=str(self.folder),
            )
            for number, variables in enumerate(self.environments)
        ]
        try:
            await asyncio.wait_for(asyncio.gather(*self.nannies), START_S)
        except asyncio.TimeoutError:
            raise LabError(f"The workers did not start within {START_S:.0f} s.") from None
        except RuntimeError as error:
            raise LabError(f"The workers did not start: {error.__cause__ or error}.") from None
        self._keep(self._watch())

    async def close(self) -> None:
        """Stop everything that `start` has started."""
        for task in self._tasks:
            task.cancel()
        with contextlib.suppress(Exception):
            await self.client.close(timeout=2)
        for nanny in self.nannies:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(nanny.close(timeout=2), 10)
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.scheduler.close(), 10)

    # ---- Jobs ----

    def workers(self) -> dict[str, dict[str, Any]]:
        """{address: facts} of every running worker; for the facts see `worker.facts`."""
        return {
            address: ws.extra[KEY]
            for address, ws in self.scheduler.workers.items()
            if KEY in ws.extra and ws.status.name == "running" and address not in self._why
        }

    def ready(self) -> dict[str, dict[str, Any]]:
        """The running workers that have sent a heartbeat in the last two seconds, so that they may get a job."""
        silent = {address for address, (_, ticks) in self._silent.items() if ticks >= DOUBTFUL_TICKS}
        return {address: facts for address, facts in self.workers().items() if address not in silent}

    async def run(self, ticket: str, address: str, request: Path, answer: Path, longest_s: float) -> int:
        """Let a worker read a request from one file and write its answer to another; returns the answer's bytes.

        A job is never repeated. A worker that takes longer than `longest_s` seconds is ended. Raises `WorkerEnded`.
        """
        from gemm_lab_classroom.gateway.worker import answer_file

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            future = self.client.submit(answer_file, str(request), str(answer), key=f"{KEY}-{ticket}", retries=0,
                                        workers=[address], allow_other_workers=False, pure=False)  # fmt: skip
        try:
            return await self._result(future, address, longest_s)
        except WorkerEnded:
            raise
        except Exception as error:  # such as Dask's KilledWorker, or an OSError when the answer was written
            ended = type(error).__name__ in ("KilledWorker", "CancelledError", "FutureCancelledError")
            raise WorkerEnded(self._why.get(address, ENDED if ended else f"failed ({type(error).__name__})")) from None
        finally:
            future.release()

    async def _result(self, future: Any, address: str, longest_s: float) -> int:
        """The result of a job. Dask alone would wait forever if the worker ends before the job reaches it."""
        loop = asyncio.get_running_loop()
        result, deadline, gone = asyncio.ensure_future(future.result()), loop.time() + longest_s, 0
        try:
            while not (await asyncio.wait({result}, timeout=TICK_S))[0]:
                gone = gone + 1 if address not in self.scheduler.workers else 0
                if gone >= GONE_TICKS:
                    raise WorkerEnded(self._why.get(address, ENDED))
                if loop.time() > deadline:
                    self.end(address, f"had not finished after {longest_s:.0f} s and was replaced")
                    raise WorkerEnded(self._why[address])
            return result.result()
        finally:
            result.cancel()

    # ---- Monitoring ----

    def end(self, address: str, why: str) -> None:
        """Kill the process of a worker, even if it is suspended; its nanny starts another. why: for its current job."""
        self._why[address] = why
        for nanny in self.nannies:
            if nanny.worker_address == address and nanny.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(nanny.pid, signal.SIGKILL)

    async def _watch(self) -> None:
        """Twice a second: replace workers without a heartbeat, restart missing ones, and let the queue assign jobs.

        Missing heartbeats are counted in ticks of this loop and not by the clock. So if the machine sleeps, or the
        server is suspended, its workers are not ended when it continues.
        """
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(TICK_S)
            if loop.time() - before < TICK_S + SAFE_DELAY_S:
                self._look()
            self.changed()

    def _look(self) -> None:
        present = self.scheduler.workers
        for address, ws in list(present.items()):
            seen, ticks = self._silent.get(address, (ws.last_seen, 0))
            ticks = ticks + 1 if seen == ws.last_seen else 0
            self._silent[address] = ws.last_seen, ticks
            if ticks >= SILENT_TICKS:
                self._silent[address] = ws.last_seen, 0
                self.end(address, SILENT)
        for address in [address for address in self._silent if address not in present]:
            del self._silent[address]
        for address in [address for address in self._why if address not in present][: max(len(self._why) - 100, 0)]:
            del self._why[address]
        for number, nanny in enumerate(self.nannies):
            self._down[number] = 0 if nanny.is_alive() else self._down.get(number, 0) + 1
            if self._down[number] >= REVIVE_TICKS:
                self._down[number] = 0
                self._keep(self._revive(nanny))

    async def _revive(self, nanny: Any) -> None:
        with contextlib.suppress(Exception):
            await nanny.instantiate()

    def _keep(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
