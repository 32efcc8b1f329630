"""The notebook's side of a GPU server: a `Session` whose worker is on another machine, reached through Dask.

GEMM_LAB_SCHEDULER names the server's scheduler (`gemm-lab serve`). A request takes its place in the server's queue
(`gemm_lab.server.fair_queue`), is sent to the worker whose turn it is, and is answered once: a job whose worker ended
is never sent again. Kernels, settings and arrays travel as plain data; results come back as NumPy arrays.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
import uuid
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gemm_lab import config, hardware
from gemm_lab.device import turns, wire
from gemm_lab.device.faults import GpuBusy, WorkerLost
from gemm_lab.device.server_link import ServerError, connect, require_same_versions
from gemm_lab.device.session import START_PATIENCE_S
from gemm_lab.errors import LabError

RESOURCE = "GPU"  # of a Dask worker; a job takes the one that a worker has
KEY = "gemm_lab"  # under which a worker tells its facts, and with which the names of jobs begin
ANSWER_S, POLL_S = 10.0, 1.0
FAILURE_KEPT_S = 10.0  # a server that did not answer is not asked again at once
MOST_BYTES = 512 << 20
WITHOUT_LIMIT_S = 3600.0  # for a benchmark, which reports its steps; the server stops a silent one


class RemoteSession:
    """Requests to a GPU server, with the same methods as `Session`. Safe to use from several threads.

    `show` gets the line to display while others are served. `fresh` asks for a GPU process of its own. `worker` is the
    address of the worker that was asked last.
    """

    queue = None  # the server has one

    def __init__(self, address: str, show: Callable[[str], None] | None = None, fresh: bool = False):
        self.address, self.output, self.worker, self.fresh = address, "", "", fresh
        self._show, self._lock = show or turns.Waiting(), threading.RLock()
        self._client: Any = None
        self._pid, self._facts = os.getpid(), None
        self._failure: tuple[float, ServerError] | None = None

    # ---- What the server is ----

    def facts(self) -> dict[str, Any]:
        """What the server's workers say of themselves: backend, and of a GPU name, arch, sms, driver, memory_gb.

        A server with several kinds of GPU answers with the first. Raises `ServerError`, at the latest after 15 s.
        """
        with self._lock:
            if self._facts is None:
                if self._failure and time.monotonic() - self._failure[0] < FAILURE_KEPT_S:
                    raise self._failure[1]
                try:
                    self._facts = self._find_worker()
                except ServerError as error:
                    self._failure = time.monotonic(), error
                    raise
            return self._facts

    def _find_worker(self) -> dict[str, Any]:
        deadline = time.monotonic() + ANSWER_S
        while True:
            found = self._call("gemm_lab_workers")
            if found is None:  # Dask's answer to what it does not know
                raise ServerError(
                    f"The Dask scheduler at {self.address} is none of gemm_lab's. Start it with `gemm-lab serve`, or "
                    "with `dask scheduler --preload gemm_lab.server.fair_queue`."
                )
            if found:
                break
            if time.monotonic() > deadline:
                raise ServerError(
                    f"The server at {self.address} has no worker now. On its GPU machine, type "
                    f"`gemm-lab worker {self.address}`; or unset GEMM_LAB_SCHEDULER to work on this machine."
                )
            time.sleep(0.25)
        facts = sorted(found, key=lambda facts: (facts.get("backend") != "gpu", facts.get("arch") or ""))[0]
        require_same_versions(self.address, facts)
        return facts

    # ---- Requests ----

    def request(
        self,
        op: str,
        *,
        timeout_s: float | None = None,
        progress: Any = None,
        patience_s: float | None = None,
        **payload: Any,
    ) -> Any:
        """Run operation `op` on the server and return its result; `self.output` is what it printed.

        `timeout_s` and `patience_s` hold on the server, as `Session.request` has them; reports of progress stay there.
        Raises `ServerError`, `GpuBusy`, `WorkerLost`, `Silence`, and the operation's own error.
        """
        facts, patience = self.facts(), patience_s or START_PATIENCE_S
        parts = wire.packed(
            {"op": op, "payload": payload, "timeout_s": timeout_s, "patience_s": patience, "fresh": self.fresh}
        )
        size = sum(len(part) for part in parts)
        if size > MOST_BYTES:
            raise LabError(
                f"This run would send {size / 2**20:,.0f} MB to the server, and {MOST_BYTES >> 20} MB may be sent. "
                "Choose a smaller size; run(n) of a large n sends no matrices."
            )
        longest = 2 * patience + 2 * (timeout_s or patience) + config.wait_s()  # notebooks there may have the GPU, too
        longest = WITHOUT_LIMIT_S if op == "benchmark" else longest
        ticket, notice = uuid.uuid4().hex, turns.activity(op, payload)
        try:
            self.worker = worker = self._turn(ticket, [facts["backend"], facts.get("arch") or ""], notice)
            answer = self._answer(ticket, worker, [bytes(part) for part in parts], longest, op)
        finally:
            with contextlib.suppress(LabError):
                self._call("gemm_lab_leave", ticket=ticket)
        self.output = answer["output"]
        if "error" not in answer:
            return answer["result"]
        error = wire.rebuilt(answer["error"])
        if error is None:
            said = answer["error"]
            error = WorkerLost(
                f"The server failed at “{op}”: {said['type']}: {said['message']}.", said.get("traceback", "")
            )
        if hasattr(error, "output"):
            error.output = error.output or self.output
        raise error

    def _turn(self, ticket: str, kind: list[str], notice: str) -> str:
        """Wait in the server's queue; the address of the worker that is ours then."""
        begun, limit, shown = time.monotonic(), config.wait_s(), False
        client, who = self._connected(), turns.me()
        try:
            while True:
                state = self._call("gemm_lab_take", ticket=ticket, client=client.id, kind=kind, who=who, what=notice)
                if state["state"] == "turn":
                    return state["worker"]
                waited = time.monotonic() - begun
                if waited >= limit:
                    raise GpuBusy(waited, state["holder"] or "it has no worker now", state["before"])
                shown = True
                others = f"; {state['before']} before you" if state["before"] else ""
                self._show(f"waiting for the GPU server: {state['holder'] or 'no worker is there'}{others}")
        finally:
            if shown:
                self._show("")

    def _answer(self, ticket: str, worker: str, parts: list[bytes], longest_s: float, op: str) -> dict[str, Any]:
        import distributed

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # “sending large graph”: that is what we do
            future = self._connected().submit(
                ask_worker,
                parts,
                key=f"{KEY}-{ticket}",
                workers=[worker],
                allow_other_workers=False,
                resources={RESOURCE: 1},
                retries=0,
                pure=False,
            )
        deadline, lost = time.monotonic() + longest_s, 0
        try:
            while True:
                with contextlib.suppress(distributed.TimeoutError, TimeoutError):
                    return wire.unpacked([bytearray(part) for part in future.result(timeout=POLL_S)])
                state = self._call("gemm_lab_state", ticket=ticket)
                # "unknown": the job had ended. Unless its result is here, it went with the worker unfetched.
                lost = lost + 1 if state["state"] in ("lost", "unknown") else 0
                if lost >= 2 and not future.done():  # the job itself, or its result
                    raise self._lost(op)
                if time.monotonic() > deadline:
                    raise WorkerLost(
                        f"The server did not answer “{op}” within {longest_s:.0f} s; it was given up, not repeated."
                    )
        except distributed.scheduler.KilledWorker:
            raise self._lost(op) from None
        except LabError:
            raise
        except (Exception, asyncio.CancelledError) as error:  # Dask's: the scheduler went away
            self._forget()
            raise ServerError(
                f"The server at {self.address} did not finish “{op}” ({type(error).__name__}: {error}); it was not "
                "repeated. Run the cell again; if that fails, see whether `gemm-lab serve` still runs there."
            ) from None
        finally:
            with contextlib.suppress(Exception):
                future.release()

    def _lost(self, op: str) -> WorkerLost:
        return WorkerLost(
            f"The server's worker ended during “{op}”, which was not repeated. It starts again by itself; "
            "run the cell again, unless this kernel may have been the cause."
        )

    # ---- The connection ----

    def _connected(self) -> Any:
        with self._lock:
            if self._client is not None and (self._pid != os.getpid() or self._client.status != "running"):
                self._forget()
            if self._client is None:
                self._client, self._pid = connect(self.address), os.getpid()
            return self._client

    def _call(self, handler: str, **facts: Any) -> Any:
        client = self._connected()
        try:
            return client.sync(getattr(client.scheduler, handler), **facts, callback_timeout=ANSWER_S)
        except Exception as error:
            self._forget()
            raise ServerError(
                f"The server at {self.address} stopped answering ({type(error).__name__}). See whether "
                "`gemm-lab serve` still runs there, or unset GEMM_LAB_SCHEDULER to work on this machine."
            ) from None

    def _forget(self) -> None:
        """Drop the connection; the next request makes another."""
        client, self._client, self._facts = self._client, None, None
        if client is not None and self._pid == os.getpid():
            with contextlib.suppress(Exception):
                client.close(timeout=1)

    def kill(self) -> None:
        """Nothing to do: the server ends its own processes."""

    def close(self) -> None:
        """Leave the server."""
        with self._lock:
            self._forget()


def ask_worker(parts: list[bytes]) -> list[bytes]:
    """On the server's worker: answer one job (`gemm_lab.server.worker`)."""
    from distributed import get_worker

    return get_worker().plugins[KEY].answer(parts)


@lru_cache(maxsize=4)
def session_at(address: str) -> RemoteSession:
    """The one connection of this process to a server."""
    return RemoteSession(address)


def server() -> RemoteSession | None:
    """The server that GEMM_LAB_SCHEDULER names; None to work on this machine."""
    address = config.scheduler()
    return session_at(address) if address else None


def present() -> hardware.Present | None:
    """The server's GPU; None if its workers emulate."""
    facts = server().facts()
    if facts["backend"] != "gpu":
        return None
    known = hardware.GPUS.get(facts.get("gpu") or "")
    return hardware.Present(
        facts["name"], facts["arch"], facts["sms"], tuple(facts["driver"]), facts["memory_gb"], known, facts["uuid"]
    )
