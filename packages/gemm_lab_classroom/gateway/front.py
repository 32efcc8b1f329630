"""The gateway authenticates students, queues their jobs and returns the answers.

Requests and answers are stored in files and not interpreted here.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

from gemm_lab_classroom.gateway.engine import Engine, WorkerEnded
from gemm_lab_classroom.gateway.fair_queue import FairQueue, Job, Refused
from gemm_lab_classroom.gateway.requests import EVERY_OPERATION, LONGEST_OTHER_S, LONGEST_S, OPERATIONS
from gemm_lab_classroom.gateway.roster import Roster
from gpu_runner import settings
from gpu_runner.remote import MOST_BYTES
from gpu_runner.transport import wire
from gpu_runner.transport.server_link import readable

MOST_RATE, MOST_AT_ONCE, MOST_OPEN = 100.0, 300.0, 24  # requests of one person: per second, in a burst, open at a time
MOST_WHAT = 100
MOST_TOTAL_BYTES = 8 << 30
TICKET = re.compile(r"[0-9a-f]{32}")


class Gateway:
    """Connects people, their jobs and the workers. The HTTP handlers call its methods, in one event loop."""

    def __init__(self, roster: Roster, folder: Path, environments: list[dict[str, str]]) -> None:
        self.roster, self.folder = roster, folder / "jobs"
        self.folder.mkdir(mode=0o700)
        self.queue = FairQueue(min(MOST_TOTAL_BYTES, shutil.disk_usage(folder).free // 2))
        self.engine = Engine(environments, self.look)
        self.most_of_one = max(1, len(environments) // 2) if len(roster.names) > 1 else len(environments)
        self.open: Counter[str] = Counter()
        self._allowance: dict[str, tuple[float, float]] = {}
        self._tasks: set[asyncio.Task] = set()

    # ---- People ----

    def person(self, authorization: str) -> str:
        """The name of the person whose token is in the Authorization header. Raises `Refused` without a valid token."""
        scheme, _, token = authorization.partition(" ")
        name = self.roster.name_of(token.strip()) if scheme.lower() == "bearer" and len(token) <= 200 else None
        if name is None:
            raise Refused(
                401,
                "The server does not know this token. Set GEMM_LAB_TOKEN to the token that your teacher "
                "gave you; the token of a person who was removed from the roster is invalid.",
            )
        return name

    def limit_rate(self, person: str) -> None:
        """Raise `Refused` if a person makes requests too often, or has too many open at the same time."""
        now = time.monotonic()
        left, then = self._allowance.get(person, (MOST_AT_ONCE, now))
        left = min(MOST_AT_ONCE, left + (now - then) * MOST_RATE)
        if left < 1 or self.open[person] >= MOST_OPEN:
            raise Refused(
                429,
                f"Your programs ask this server more than {MOST_RATE:.0f} times a second, or hold more "
                f"than {MOST_OPEN} connections. Stop those that you do not need.",
            )
        self._allowance[person] = left - 1, now

    # ---- Requests ----

    def facts(self, person: str) -> dict[str, Any]:
        """Facts about the server: its versions, the facts of its workers, and the name of the person who asks."""
        return {
            "version": settings.version(),
            "protocol": wire.PROTOCOL,
            "you": person,
            "workers": list(self.engine.workers().values()),
        }

    def status(self) -> dict[str, Any]:
        """The number of jobs in each state, of served jobs of each person, and of workers."""
        return {**self.queue.facts(), "workers": len(self.engine.workers())}

    def arriving(self, person: str, ticket: str, facts: dict[str, str], declared: int) -> Job:
        """Register a new job before its body is read, and make its folder. Raises `Refused` if it is not accepted.

        facts: the query parameters.   declared: the size of the body in bytes.
        """
        if not TICKET.fullmatch(ticket):
            raise Refused(400, "This is not a valid ticket.")
        if facts.get("protocol") != str(wire.PROTOCOL):
            theirs = readable(facts.get("protocol", "?"), 20)
            raise Refused(
                409,
                f"The server uses version {wire.PROTOCOL} of the protocol and your machine uses version {theirs}. "
                "Install the same version of gemm_lab on both.",
            )
        if declared > MOST_BYTES:
            raise Refused(413, f"This request has {declared / 2**20:,.0f} MB, and {MOST_BYTES >> 20} MB may be sent.")
        op, backend = facts.get("op", ""), facts.get("backend", "")
        if backend not in OPERATIONS or op not in EVERY_OPERATION:
            raise Refused(400, "The server has no such operation.")
        kind, what = (backend, readable(facts.get("arch", ""), 20)), readable(facts.get("what", ""), MOST_WHAT)
        job = Job(ticket, person, kind, op, what or "running a kernel", self.folder / ticket, time.monotonic())
        self.queue.arrive(job)
        job.folder.mkdir(mode=0o700)
        return job

    def entered(self, job: Job) -> None:
        """Put a job in the queue, after its whole body has arrived."""
        self.queue.enter(job, time.monotonic())
        self.look()

    def job_of(self, person: str, ticket: str) -> Job:
        """The job with this ticket. Raises `Refused` if there is none or if it belongs to somebody else."""
        job = self.queue.jobs.get(ticket)
        if job is None or job.owner != person:
            raise Refused(404, "The server does not have this request.")
        job.asked = time.monotonic()
        return job

    def state(self, job: Job) -> dict[str, Any]:
        """The state of a job as {"state", …}.

        For a waiting job, "before" is the number of jobs that are served first and "holder" says which run now. For a
        lost job, "why" is the reason.
        """
        found: dict[str, Any] = {"state": job.state}
        if job.state == "waiting":
            found |= {"before": self.queue.before(job), "holder": self.queue.holder(job.kind, time.monotonic())}
        if job.state == "lost":
            found["why"] = job.lost
        return found

    def leave(self, job: Job) -> None:
        """Remove a job whose client has its answer or needs none; a running job is ended if it does not end soon."""
        if self.queue.leave(job):
            self._remove(job)
        self.look()

    # ---- Serving ----

    def look(self) -> None:
        """Remove and end jobs that nobody needs any more, and assign free workers to the next jobs."""
        now = time.monotonic()
        for job in self.queue.abandoned(now):
            if job.worker in self.engine.workers():  # it is not being ended already
                self.engine.end(job.worker, "was stopped")
        for job in self.queue.forgotten(now):
            self.queue.jobs.pop(job.ticket, None)
            self._remove(job)
        workers = self.engine.ready()
        busy = {job.worker for job in self.queue.jobs.values() if job.state == "running"}
        free = {
            address: (facts["backend"], facts.get("arch") or "")
            for address, facts in workers.items()
            if address not in busy
        }
        for job in self.queue.begin(free, self.most_of_one, now):
            task = asyncio.get_running_loop().create_task(self._serve(job))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, job: Job) -> None:
        request, answer, lost = job.folder / "request", job.folder / "answer", ""
        try:
            longest_s = LONGEST_S.get(job.op, LONGEST_OTHER_S)
            job.size = await self.engine.run(job.worker, request, answer, longest_s)
        except WorkerEnded as error:
            lost = str(error)
        except Exception as error:
            lost = f"failed ({type(error).__name__})"
        with contextlib.suppress(OSError):
            request.unlink()
        self.queue.finish(job, time.monotonic(), lost)
        self.look()

    def _remove(self, job: Job) -> None:
        shutil.rmtree(job.folder, ignore_errors=True)
