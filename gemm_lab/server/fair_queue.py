"""The scheduler's queue: jobs go to one worker at a time, first come first served, and are never sent twice.

Dask itself would hand waiting jobs to workers ahead of time: all that wait at a worker fail with it when it ends, and
those that came later may overtake. So a client first takes a turn here, and submits its job, pinned to the worker that
it was given, only then. A client that asks for several turns at once has its second served after the first of
everybody else.

Loaded by `gemm-lab serve`, or by `dask scheduler --preload gemm_lab.server.fair_queue`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Any

from distributed import Scheduler
from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin

from gemm_lab.device.remote import KEY, RESOURCE

LONG_POLL_S, UNUSED_TURN_S, FORGOTTEN_S = 1.0, 15.0, 15.0
KEPT = 1000  # turns that were lost with a worker, kept for those who ask


@dataclass
class Turn:
    """A place in the queue, then a worker. Times are of this process's monotonic clock."""

    ticket: str
    client: str
    kind: tuple[str, str]
    who: str
    what: str
    came: float
    asked: float
    number: int
    worker: str | None = None
    since: float = 0.0
    submitted: bool = False
    given: asyncio.Event = field(default_factory=asyncio.Event)


class FairQueue(SchedulerPlugin):
    """Gives workers to clients. A worker takes part if it tells its facts and has the resource."""

    name = KEY

    def __init__(self) -> None:
        self.waiting: dict[str, Turn] = {}
        self.taken: dict[str, Turn] = {}  # by worker
        self.lost: OrderedDict[str, str] = OrderedDict()
        self.count = 0

    async def start(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        scheduler.allowed_failures = 0  # a job that was on a worker that ended may have been the reason
        scheduler.handlers.update(
            gemm_lab_take=self.take, gemm_lab_state=self.state, gemm_lab_leave=self.leave, gemm_lab_workers=self.workers
        )

    # ---- What clients ask ----

    async def take(self, ticket: str, client: str, kind: list[str], who: str, what: str) -> dict[str, Any]:
        """Join the queue, or ask again; answers when it is one's turn, or after a second with who is served."""
        now, turn = time.monotonic(), self.waiting.get(ticket)
        if turn is None and self._turn_of(ticket) is None:
            self.count += 1
            turn = Turn(ticket, client, tuple(kind), who, what, now, now, self.count)
            self.waiting[ticket] = turn
        if turn is not None:
            turn.asked = now
            self.serve()  # at every question: a worker that has just come is not ready yet when Dask announces it
            try:
                await asyncio.wait_for(turn.given.wait(), LONG_POLL_S)
            except asyncio.TimeoutError:
                turn.asked = time.monotonic()
        return self.state(ticket)

    def state(self, ticket: str) -> dict[str, Any]:
        """{"state": "turn", "worker"}, "waiting" with who is served and how many come before, "lost" or "unknown"."""
        turn = self._turn_of(ticket)
        if turn is not None:
            return {"state": "turn", "worker": turn.worker}
        if ticket in self.waiting:
            mine = self.waiting[ticket]
            before = [turn for turn in self.order() if turn.kind == mine.kind].index(mine)
            return {"state": "waiting", "before": before, "holder": self.holder(mine.kind)}
        return {"state": "lost" if ticket in self.lost else "unknown"}

    def leave(self, ticket: str) -> None:
        """Give up a place, or a turn for which no job was sent; a job that runs is left to end."""
        self.waiting.pop(ticket, None)
        turn = self._turn_of(ticket)
        if turn is not None and not turn.submitted:
            self.free(turn)

    def workers(self) -> list[dict[str, Any]]:
        """The facts of every worker that takes part."""
        return [ws.extra[KEY] for ws in self.scheduler.workers.values() if self._serves(ws)]

    def holder(self, kind: tuple[str, str]) -> str:
        """Who is served, such as "ada is running t4/03, 2 s"."""
        served = [turn for address, turn in self.taken.items() if self._kind(address) == kind]
        now = time.monotonic()
        return ", ".join(f"{turn.who} is {turn.what}, {now - turn.since:.0f} s" for turn in served)

    # ---- Serving ----

    def order(self) -> list[Turn]:
        """Who waits, in the order of service: everybody's first, then everybody's second, …, by arrival."""
        rank: Counter[str] = Counter()
        ranked = []
        for turn in self.waiting.values():
            ranked.append((rank[turn.client], turn.number, turn))
            rank[turn.client] += 1
        return [turn for _, _, turn in sorted(ranked, key=lambda item: item[:2])]

    def serve(self) -> None:
        """Give every free worker to the next in the queue."""
        now = time.monotonic()
        for turn in [turn for turn in self.waiting.values() if now - turn.asked > FORGOTTEN_S + LONG_POLL_S]:
            del self.waiting[turn.ticket]
        for address, ws in list(self.scheduler.workers.items()):
            if address in self.taken or not self._serves(ws):
                continue
            turn = next((turn for turn in self.order() if turn.kind == self._kind(address)), None)
            if turn is not None:
                del self.waiting[turn.ticket]
                turn.worker, turn.since = address, now
                self.taken[address] = turn
                turn.given.set()
                asyncio.get_running_loop().call_later(UNUSED_TURN_S, self._take_back, turn)

    def free(self, turn: Turn) -> None:
        if self.taken.get(turn.worker) is turn:
            del self.taken[turn.worker]
        self.serve()

    def _take_back(self, turn: Turn) -> None:
        """A turn for which no job came: its client has gone."""
        if not turn.submitted:
            self.free(turn)

    def _turn_of(self, ticket: str) -> Turn | None:
        return next((turn for turn in self.taken.values() if turn.ticket == ticket), None)

    def _serves(self, ws: Any) -> bool:
        return KEY in ws.extra and ws.resources.get(RESOURCE, 0) >= 1 and ws.status == Status.running

    def _kind(self, address: str) -> tuple[str, str]:
        ws = self.scheduler.workers.get(address)
        facts = ws.extra.get(KEY, {}) if ws is not None else {}
        return facts.get("backend", ""), facts.get("arch") or ""

    # ---- What Dask tells ----

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        """A job that was sent has its worker; one that ended frees it."""
        if not isinstance(key, str) or not key.startswith(f"{KEY}-"):
            return
        turn = self._turn_of(key.removeprefix(f"{KEY}-"))
        if turn is None:
            return
        if finish == "processing":
            turn.submitted = True
        elif finish in ("memory", "erred", "forgotten") or (finish == "released" and turn.submitted):
            self.free(turn)

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        self.serve()

    def remove_worker(self, scheduler: Scheduler, worker: str, **kwargs: Any) -> None:
        turn = self.taken.pop(worker, None)
        if turn is not None:
            self.lost[turn.ticket] = worker
            while len(self.lost) > KEPT:
                self.lost.popitem(last=False)
        self.serve()

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        for turn in [turn for turn in self.waiting.values() if turn.client == client]:
            del self.waiting[turn.ticket]
        for turn in [turn for turn in self.taken.values() if turn.client == client and not turn.submitted]:
            self.free(turn)


async def dask_setup(scheduler: Scheduler) -> None:
    """Dask calls this when it preloads the module."""
    queue = FairQueue()
    scheduler.add_plugin(queue, name=KEY)
    await queue.start(scheduler)
