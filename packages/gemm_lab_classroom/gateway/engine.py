"""The workers of a server: processes that the gateway starts, gives jobs, and replaces when they end or fall silent.

Each runs `worker.main`. The gateway writes a line of JSON to its standard input for a job: the names of the files of
its request and its answer. The worker writes its facts to its standard output, then a line for each job that is done,
and an empty line twice a second. Students have no access to any of this.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gemm_results.errors import LabError

START_S = 60.0
# After 2 s without a line a worker gets no new job; after 10 s it is replaced.
TICK_S, DOUBTFUL_TICKS, SILENT_TICKS = 0.5, 4, 20
AGAIN_S = 10.0  # from a failed start to the next one
SAFE_DELAY_S = 2.0  # if a tick comes later than this, the gateway itself was suspended
WORKER = "gemm_lab_classroom.gateway.worker"  # the module that a worker runs

ENDED = "ended"
SILENT = f"gave no sign of life for {SILENT_TICKS * TICK_S:.0f} s and was replaced"


class WorkerEnded(Exception):
    """A worker ended or was ended during a job. `str(error)` says how, such as "ended" or "gave no sign of life …"."""


class Worker:
    """One worker: its process, and the next one when that has ended.

    address: a name, another one for each process.   facts: what the process said when it had started (`worker.facts`),
    else None.   why: the reason for which it was ended.   ticks: how long it has been silent.
    """

    def __init__(self, number: int, environment: dict[str, str]) -> None:
        self.number, self.environment, self.starts = number, environment, 0
        self.address, self.why, self.ticks = "", "", 0
        self.facts: dict[str, Any] | None = None
        self.process: asyncio.subprocess.Process | None = None
        self.starting = False
        self._said: asyncio.Future[dict[str, Any]] | None = None
        self._listener: asyncio.Task | None = None

    @property
    def running(self) -> bool:
        """Whether the process has started, and neither ended nor been ended."""
        return self.facts is not None and not self.why

    async def start(self) -> None:
        """Start a process and wait until it is ready. Raises `WorkerEnded` if it is not within `START_S` seconds."""
        self.starting, self.starts = True, self.starts + 1
        self.address, self.why, self.facts = f"worker-{self.number}.{self.starts}", "", None
        try:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", WORKER, str(TICK_S)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                env={**os.environ, **self.environment}, start_new_session=True,  # Ctrl-C is for the gateway
            )  # fmt: skip
            self._said = asyncio.get_running_loop().create_future()
            self._listener = asyncio.create_task(self._listen(self.process))
            self.facts = await asyncio.wait_for(self._line(), START_S)
            self.ticks = 0
        except asyncio.TimeoutError:
            raise WorkerEnded(f"not within {START_S:.0f} s") from None
        finally:
            self.starting = False
            if self.facts is None:
                self.end(ENDED)

    async def run(self, request: Path, answer: Path) -> int:
        """Let the process answer a request; returns the answer's bytes. Raises `WorkerEnded`."""
        self._said = asyncio.get_running_loop().create_future()
        self.process.stdin.write(json.dumps([str(request), str(answer)]).encode() + b"\n")
        return (await self._line())["bytes"]

    def end(self, why: str) -> None:
        """Kill the process, even if it is suspended. why: for its current job."""
        self.why = self.why or why
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()

    async def gone(self) -> None:
        """Wait until the process has ended and all that it wrote is read."""
        if self._listener is not None:
            await self._listener

    async def _line(self) -> dict[str, Any]:
        found = await self._said
        if "failed" in found:
            raise WorkerEnded(found["failed"])
        return found

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        while line := await process.stdout.readline():
            self.ticks = 0
            if line.strip() and not self._said.done():
                self._said.set_result(json.loads(line))
        self.end(ENDED)
        if not self._said.done():
            self._said.set_result({"failed": self.why})
        await process.wait()


class Engine:
    """Starts and monitors the workers, one for each item of `environments`, and runs jobs on them.

    `changed` is called regularly, since a worker may have become free or may be gone.
    """

    def __init__(self, environments: Sequence[dict[str, str]], changed: Callable[[], None]) -> None:
        self._workers = [Worker(number, variables) for number, variables in enumerate(environments)]
        self.changed = changed
        self._tasks: set[asyncio.Task] = set()

    async def start(self) -> None:
        """Start the workers and their monitoring. Raises `LabError` if a worker does not start."""
        try:
            await asyncio.gather(*(one.start() for one in self._workers))
        except WorkerEnded as error:
            raise LabError(f"The workers did not start: {str(error).rstrip('.')}.") from None
        self._keep(self._watch())

    async def close(self) -> None:
        """End all workers."""
        for task in self._tasks:
            task.cancel()
        for one in self._workers:
            one.end("was stopped")
            await one.gone()

    def workers(self) -> dict[str, dict[str, Any]]:
        """{address: facts} of every running worker; for the facts see `worker.facts`."""
        return {one.address: one.facts for one in self._workers if one.running}

    def ready(self) -> dict[str, dict[str, Any]]:
        """The running workers that have written a line in the last two seconds, so that they may get a job."""
        return {one.address: one.facts for one in self._workers if one.running and one.ticks < DOUBTFUL_TICKS}

    async def run(self, address: str, request: Path, answer: Path, longest_s: float) -> int:
        """Let a worker read a request from one file and write its answer to another; returns the answer's bytes.

        A job is never repeated. A worker that takes longer than `longest_s` seconds is ended. Raises `WorkerEnded`.
        """
        one = next((one for one in self._workers if one.address == address and one.running), None)
        if one is None:
            raise WorkerEnded(ENDED)
        try:
            return await asyncio.wait_for(one.run(request, answer), longest_s)
        except asyncio.TimeoutError:
            one.end(f"had not finished after {longest_s:.0f} s and was replaced")
            raise WorkerEnded(one.why) from None

    def end(self, address: str, why: str) -> None:
        """Kill the process of a worker; another is started. why: for its current job."""
        for one in self._workers:
            if one.address == address:
                one.end(why)

    async def _watch(self) -> None:
        """Twice a second: end silent workers, start others for those that ended, and let the queue assign jobs.

        Silence is counted in ticks of this loop and not by the clock. So if the machine sleeps, or the server is
        suspended, its workers are not ended when it continues.
        """
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(TICK_S)
            late = loop.time() - before >= TICK_S + SAFE_DELAY_S
            for one in self._workers:
                one.ticks += one.running and not late
                if one.running and one.ticks >= SILENT_TICKS:
                    one.end(SILENT)
                if one.why and not one.starting:
                    one.starting = True
                    self._keep(self._replace(one))
            self.changed()

    async def _replace(self, one: Worker) -> None:
        await one.gone()
        try:
            await one.start()
        except (WorkerEnded, OSError):
            one.starting = True
            await asyncio.sleep(AGAIN_S)
            one.starting = False

    def _keep(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
