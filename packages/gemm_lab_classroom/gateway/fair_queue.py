"""The queue of jobs for the workers, which decides their order. Callers pass in the time; there is no network access.

A job enters the queue when all of it has arrived, so nobody can occupy a worker without giving it work. Jobs are served
first come, first served, except that a person's second job comes after everybody else's first. The rule is start-time
fair queueing (Goyal, Vin, Cheng, "Start-time Fair Queueing", 1996) with one unit per job: a job's round is the one that
is being served, or the one after its owner's last job, whichever is later, and the lowest round is served first. The
owner is the person to whom the token belongs. A served job counts for its owner even if it fails.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gemm_results.errors import LabError

MOST_WAITING = 6  # jobs of one person that may wait or run at the same time
MOST_BYTES_OF_ONE = 1 << 30
FORGOTTEN_S = 15.0  # a waiting job is dropped if its client has not asked about it for so long
STOPPED_S = 2.0  # a job that still runs so long after its client has left is ended
KEPT_S = 60.0  # an answer is deleted if it has not been fetched for so long


class Refused(LabError):
    """A request was refused; `status` is the HTTP status code."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(eq=False)
class Job:
    """One request. Times are in seconds of the gateway's monotonic clock.

    kind: (backend, architecture) of the workers that it needs.   what: a description, for others who wait.
    folder: where its request and its answer are kept.   asked: when its client last asked about it.   size: its bytes.
    state: "arriving", "waiting", "running", "done" or "lost"; `lost` says why.   left: its client has left.
    """

    ticket: str
    owner: str
    kind: tuple[str, str]
    op: str
    what: str
    folder: Path
    asked: float
    size: int = 0
    number: int = 0
    round_at_arrival: int = 0
    state: str = "arriving"
    worker: str = ""
    since: float = 0.0
    lost: str = ""
    left: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def open(self) -> bool:
        """Whether the job is still arriving, waiting or running."""
        return self.state in ("arriving", "waiting", "running")


class FairQueue:
    """Jobs by ticket, and the order in which they are served. total_bytes: the limit for all jobs together."""

    def __init__(self, total_bytes: int) -> None:
        self.jobs: dict[str, Job] = {}
        self.total_bytes, self.round, self.count = total_bytes, 0, 0
        self.next_round: dict[str, int] = {}  # owner -> the earliest round of the owner's next job
        self.served: Counter[str] = Counter()

    # ---- Arriving ----

    def arrive(self, job: Job) -> None:
        """Register a job whose bytes are about to arrive. Raises `Refused` if its owner has too many jobs."""
        if job.ticket in self.jobs:
            raise Refused(409, "This request has been made already.")
        mine = [other for other in self.jobs.values() if other.owner == job.owner and other.open]
        if len(mine) >= MOST_WAITING:
            raise Refused(
                429,
                f"You have {len(mine)} requests on this server already, and {MOST_WAITING} at a time "
                "are taken from each student. Wait for one of them, or stop the other notebook.",
            )
        self.jobs[job.ticket] = job

    def grow(self, job: Job, more: int) -> None:
        """Count `more` bytes of a job. Raises `Refused` if its owner's jobs, or all jobs together, are too large."""
        job.size += more
        if sum(other.size for other in self.jobs.values() if other.owner == job.owner) > MOST_BYTES_OF_ONE:
            raise Refused(
                413,
                f"Your requests and answers on this server exceed {MOST_BYTES_OF_ONE >> 20:,} MB. Wait "
                "for one of them, or choose a smaller size.",
            )
        if sum(other.size for other in self.jobs.values()) > self.total_bytes:
            raise Refused(
                503, "The server has no room for more matrices now. Try again in a minute, or choose a smaller size."
            )

    def enter(self, job: Job, now: float) -> None:
        """Put a job in the queue, after all of it has arrived."""
        self.count += 1
        job.number, job.round_at_arrival, job.asked, job.state = self.count, self.round, now, "waiting"

    # ---- Serving ----

    def order(self) -> list[Job]:
        """The waiting jobs, in the order in which they will be served."""
        ranked, after = [], dict(self.next_round)
        for job in sorted(self._in("waiting"), key=lambda job: job.number):
            place = max(job.round_at_arrival, after.get(job.owner, 0))
            after[job.owner] = place + 1
            ranked.append((place, job.number, job))
        return [job for _, _, job in sorted(ranked, key=lambda item: item[:2])]

    def begin(self, free: dict[str, tuple[str, str]], most_of_one: int, now: float) -> list[Job]:
        """Assign the free workers, {address: kind}, to the next jobs; returns the jobs that begin.

        Nobody gets more than `most_of_one` workers at once, so long jobs of one person leave some for the others.
        """
        begun = []
        for address, kind in free.items():
            busy = Counter(job.owner for job in self._in("running"))
            job = next((job for job in self.order() if job.kind == kind and busy[job.owner] < most_of_one), None)
            if job is None:
                continue
            place = max(job.round_at_arrival, self.next_round.get(job.owner, 0))
            self.round, self.next_round[job.owner] = max(self.round, place), place + 1
            self.served[job.owner] += 1
            job.state, job.worker, job.since = "running", address, now
            begun.append(job)
        return begun

    def finish(self, job: Job, now: float, lost: str = "") -> None:
        """Record the end of a job: it has its answer, or it is lost and `lost` says why."""
        job.state, job.lost, job.asked, job.worker = "lost" if lost else "done", lost, now, ""
        job.ended.set()

    def leave(self, job: Job) -> bool:
        """Record that the client needs no answer; returns whether the job was removed.

        A running job is not: it may end soon, and to end it costs the start of another worker; see `abandoned`.
        """
        job.left = True
        if job.state == "running":
            return False
        self.jobs.pop(job.ticket, None)
        return True

    def forgotten(self, now: float) -> list[Job]:
        """The jobs to remove: those whose client has left or has not asked about them for too long."""
        limits = {"waiting": FORGOTTEN_S, "done": KEPT_S, "lost": KEPT_S}
        return [
            job
            for job in self.jobs.values()
            if job.state in limits and (job.left or now - job.asked > limits[job.state])
        ]

    def abandoned(self, now: float) -> list[Job]:
        """The jobs that have been running for nobody for too long."""
        return [job for job in self._in("running") if job.left and now - job.asked > STOPPED_S]

    # ---- Information ----

    def before(self, job: Job) -> int:
        """How many jobs of the same kind are served before a waiting job."""
        return [other for other in self.order() if other.kind == job.kind].index(job)

    def holder(self, kind: tuple[str, str], now: float) -> str:
        """A text about the running jobs of a kind, such as "ada is running t4/03, 2 s"; "" if there are none."""
        served = [job for job in self._in("running") if job.kind == kind]
        return ", ".join(f"{job.owner} is {job.what}, {now - job.since:.0f} s" for job in served)

    def facts(self) -> dict[str, Any]:
        """The number of jobs in each state, and the number of served jobs of each person."""
        return {"jobs": Counter(job.state for job in self.jobs.values()), "served": self.served}

    def _in(self, state: str) -> list[Job]:
        return [job for job in self.jobs.values() if job.state == state]
