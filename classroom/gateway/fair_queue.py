"""The queue before the workers: who is served when. Callers pass in the time; no network access.

A job enters when all of it has arrived, so whoever is given a worker has something for it to do, and a turn cannot be
kept unused. Jobs are served first come, first served, but everybody's second job comes after the first of everybody
else. The rule is start-time fair queueing (Goyal, Vin, Cheng, "Start-time Fair Queueing", 1996) with one unit a job:
a job's round is the round that is being served, or the one after its owner's last job, whichever is later; the lowest
round goes first. The owner is the person whom a token belongs to, and a turn counts for its owner whatever comes of it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_simulator.errors import LabError

MOST_WAITING = 6  # jobs of one person that wait or run
MOST_BYTES_OF_ONE = 1 << 30
FORGOTTEN_S = 15.0  # without a question about it, a job that waits is dropped
KEPT_S = 60.0  # for an answer that nobody fetches


class Refused(LabError):
    """A request that is not taken; `status` is HTTP's number for why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(eq=False)
class Job:
    """One request. Times are of the gateway's monotonic clock. `state`: arriving, waiting, running, done or lost."""

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
        """True until its answer or its loss is known."""
        return self.state in ("arriving", "waiting", "running")


class FairQueue:
    """Jobs by ticket, and in which order they are served. `total_bytes`: what all may hold together."""

    def __init__(self, total_bytes: int) -> None:
        self.jobs: dict[str, Job] = {}
        self.total_bytes, self.round, self.count = total_bytes, 0, 0
        self.next_round: dict[str, int] = {}  # of each owner: the earliest for a further job
        self.served: Counter[str] = Counter()

    # ---- Coming ----

    def arrive(self, job: Job) -> None:
        """Make room for a job whose bytes are on their way. `Refused` where its owner has too many."""
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
        """Count `more` bytes of a job. `Refused` where its owner, or everybody together, holds too much."""
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
        """All of the job is here: it waits from now on."""
        self.count += 1
        job.number, job.round_at_arrival, job.asked, job.state = self.count, self.round, now, "waiting"

    # ---- Serving ----

    def order(self) -> list[Job]:
        """Who waits, in the order of service."""
        ranked, after = [], dict(self.next_round)
        for job in sorted(self._in("waiting"), key=lambda job: job.number):
            place = max(job.round_at_arrival, after.get(job.owner, 0))
            after[job.owner] = place + 1
            ranked.append((place, job.number, job))
        return [job for _, _, job in sorted(ranked, key=lambda item: item[:2])]

    def begin(self, free: dict[str, tuple[str, str]], most_of_one: int, now: float) -> list[Job]:
        """Give the free workers (address: kind) to those whose turn it is; the jobs that begin.

        Nobody has more than `most_of_one` workers at once, so that long jobs of one person leave some to the others.
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
        """The job has its answer, or it is lost and `lost` says why."""
        job.state, job.lost, job.asked, job.worker = "lost" if lost else "done", lost, now, ""
        job.ended.set()

    def leave(self, job: Job) -> bool:
        """Its client wants no answer. True if the job is gone; one that runs keeps its worker until it ends."""
        job.left = True
        if job.state == "running":
            return False
        self.jobs.pop(job.ticket, None)
        return True

    def forgotten(self, now: float) -> list[Job]:
        """Jobs about which nobody has asked for too long, and answers that nobody wants."""
        limits = {"waiting": FORGOTTEN_S, "done": KEPT_S, "lost": KEPT_S}
        return [
            job
            for job in self.jobs.values()
            if job.state in limits and (job.left or now - job.asked > limits[job.state])
        ]

    # ---- Telling ----

    def before(self, job: Job) -> int:
        """How many are served before a job that waits."""
        return [other for other in self.order() if other.kind == job.kind].index(job)

    def holder(self, kind: tuple[str, str], now: float) -> str:
        """Who is served, such as "ada is running t4/03, 2 s"."""
        served = [job for job in self._in("running") if job.kind == kind]
        return ", ".join(f"{job.owner} is {job.what}, {now - job.since:.0f} s" for job in served)

    def facts(self) -> dict[str, Any]:
        """How many jobs are in which state, and how many of each person were served."""
        return {"jobs": Counter(job.state for job in self.jobs.values()), "served": self.served}

    def _in(self, state: str) -> list[Job]:
        return [job for job in self.jobs.values() if job.state == state]
