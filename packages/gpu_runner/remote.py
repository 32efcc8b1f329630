"""Sends requests to a GPU server: like a `Session`, but with the worker on another machine.

GEMM_LAB_SERVER is the server's address (`gemm-lab serve`), GEMM_LAB_TOKEN identifies the user. A request is sent as a
whole, waits in the server's queue, and is answered once; if its worker ends, it is not sent again. Kernels, settings
and arrays are sent as data (`transport.codec`); no code is sent in either direction.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from gpu_runner import settings, turns
from gpu_runner.faults import GpuBusy, RunnerError, WorkerLost
from gpu_runner.session import START_PATIENCE_S
from gpu_runner.transport import codec, told_errors, wire
from gpu_runner.transport.field_types import fitted
from gpu_runner.transport.server_link import Link, Refusal, ServerError, Unreachable, readable, require_same_versions
from gpu_runner.transport.server_results import understood
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware import data_sheets as hardware

LONG_POLL_S, WAITING_S = 5.0, 1.0  # how long the server may hold a question about a job: while it runs; while it waits
ANSWER_S, AGAIN_S, GONE_S = 10.0, 0.5, 10.0  # limit of a short question; pause before a retry; silence before giving up
CLOSING_S = 3.0  # limit of the request that ends a job
FAILURE_KEPT_S = 10.0  # for this long a server that failed is not asked again
MOST_BYTES = 512 << 20
BENCHMARK_S = 1000.0
STRING, NUMBER = str | None, int | None
FACTS = {"version": str, "protocol": int, "you": str, "workers": list[dict]}
WORKER = {"backend": str, "?pid": int, "?name": str, "?arch": STRING, "?sms": int,
          "?driver": tuple[int, int], "?memory_gb": float, "?uuid": STRING, "?gpu": STRING}  # fmt: skip


class RemoteSession:
    """Requests to a GPU server, with the same methods as `Session`. Safe to use from several threads.

    `show` is called with the line to display while the request waits, and with "" at the end. With `fresh`, requests
    run in a GPU process of their own. The default of `token` is GEMM_LAB_TOKEN.
    """

    queue = None  # the server has one

    def __init__(
        self, address: str, show: Callable[[str], None] | None = None, fresh: bool = False, token: str | None = None
    ):
        self.address, self.output, self.fresh = address, "", fresh
        self.token = settings.token() if token is None else token
        self._show, self._lock = show or turns.Waiting(), threading.RLock()
        self._link: Link | None = None
        self._pid, self._facts = os.getpid(), None
        self._failure: tuple[float, ServerError] | None = None

    # ---- What the server is ----

    def facts(self) -> dict[str, Any]:
        """The facts of a worker of the server: "backend" and, for a GPU, "name", "arch", "sms", "driver", "memory_gb".

        If there are several workers, one with a GPU is preferred, then the first architecture in alphabetical order.
        The answer is kept. Raises `ServerError`, after 20 s at the latest.
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

    def workers(self) -> list[dict[str, Any]]:
        """The facts of every worker of the server. Raises `ServerError`."""
        facts = self._ask("GET", "/v1/server")
        require_same_versions(self.address, facts)
        try:
            return [fitted(worker, WORKER, "a worker") for worker in fitted(facts, FACTS, "the server")["workers"]]
        except ValueError as error:
            raise self._strange(str(error)) from None

    def _find_worker(self) -> dict[str, Any]:
        deadline = time.monotonic() + ANSWER_S
        while not (found := self.workers()):
            if time.monotonic() > deadline:
                raise ServerError(
                    f"The server at {self.address} has no worker now. Its own terminal says why; or unset "
                    "GEMM_LAB_SERVER to work on this machine."
                )
            time.sleep(0.25)
        return sorted(found, key=lambda facts: (facts["backend"] != "gpu", facts.get("arch") or ""))[0]

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
        """Run operation `op` on the server and return its result. `self.output` is then what it printed.

        `timeout_s` and `patience_s` apply on the server, as described at `Session.request`. `progress` is not called.
        Raises `ServerError`, `GpuBusy`, `WorkerLost`, `Silence`, and the errors of the operation itself.
        """
        facts, patience = self.facts(), patience_s or START_PATIENCE_S
        parts = codec.encoded(
            {"op": op, "payload": payload, "timeout_s": timeout_s, "patience_s": patience, "fresh": self.fresh}
        )
        size = sum(len(part) for part in parts)
        if size > MOST_BYTES:
            raise RunnerError(
                f"This run would send {size / 2**20:,.0f} MB to the server, and {MOST_BYTES >> 20} MB may be sent. "
                "Choose a smaller size; run(n) of a large n sends no matrices."
            )
        # Notebooks on the server may be using the GPU, too.
        longest = 2 * patience + 2 * (timeout_s or patience) + settings.wait_s()
        longest = BENCHMARK_S if op == "benchmark" else longest
        path, notice = f"/v1/jobs/{uuid.uuid4().hex}", turns.activity(op, payload)
        try:
            self._send(path, parts, op=op, what=notice, backend=facts["backend"], arch=facts.get("arch") or "")
            answer = self._answer(path, longest, op)
        finally:
            with contextlib.suppress(SimulatorError):
                self._ask("DELETE", path, longest_s=CLOSING_S)
        return self._result(op, payload, answer)

    def _send(self, path: str, parts: Sequence[bytes | memoryview], **facts: str) -> None:
        facts["protocol"] = str(wire.PROTOCOL)
        try:
            self._ask("POST", path, body=parts, **facts)
        except Unreachable:
            # It may have arrived all the same. Only if the server does not know the job, it is sent again.
            try:
                self._poll(path)
            except Refusal:
                self._ask("POST", path, body=parts, **facts)

    def _poll(self, path: str, wait_s: float = LONG_POLL_S) -> dict[str, Any] | bytearray:
        return self._ask("GET", path, wait_s + ANSWER_S, most=MOST_BYTES + (1 << 20), wait=f"{wait_s:.1f}")

    def _answer(self, path: str, longest_s: float, op: str) -> bytearray:
        """Wait for the worker's answer: at most GEMM_LAB_WAIT_S in the queue, then at most `longest_s` while it runs.

        While the job is in the queue, the line that is displayed says who is using the GPU.
        """
        begun, limit, shown, running = time.monotonic(), settings.wait_s(), False, 0.0
        heard = begun
        try:
            while True:
                try:
                    state = self._poll(path, LONG_POLL_S if running else WAITING_S)
                    heard = time.monotonic()
                except Unreachable:
                    if time.monotonic() - heard > GONE_S:
                        raise self._gone(op) from None
                    time.sleep(AGAIN_S)
                    continue
                except Refusal as refusal:
                    raise self._gone(op) from refusal if refusal.status == 404 else refusal
                if isinstance(state, bytearray):
                    return state
                if state.get("state") == "lost":
                    raise self._lost(op, readable(str(state.get("why", "ended")), 200))
                now = time.monotonic()
                if state.get("state") == "waiting":
                    before, holder = self._place(state)
                    if now - begun >= limit:
                        raise GpuBusy(now - begun, holder or "it has no worker now", before)
                    shown = True
                    others = f"; {before} before you" if before else ""
                    self._show(f"waiting for the GPU server: {holder or 'no worker is there'}{others}")
                elif state.get("state") == "running":
                    running = running or now
                    if now - running > longest_s:
                        raise WorkerLost(
                            f"The server did not answer “{op}” within {longest_s:.0f} s; it was given up, not repeated."
                        )
                else:
                    raise self._strange("a job that neither waits nor runs")
        finally:
            if shown:
                self._show("")

    def _result(self, op: str, payload: dict[str, Any], answer: bytearray) -> Any:
        try:
            found = fitted(codec.decoded(answer), {"?result": Any, "?error": dict, "output": str}, "the answer")
            self.output = found["output"]
            if "error" not in found:
                return understood(op, found["result"], payload)
            error = told_errors.retold(found["error"])
        except (codec.BadMessage, ValueError, KeyError) as wrong:
            raise self._strange(str(wrong)) from None
        if error is None:
            said = found["error"]
            what = f"{readable(said['type'], 80)}: {readable(said['message'], 500)}"
            error = WorkerLost(f"The server failed at “{op}”: {what}.")
        if hasattr(error, "output"):
            error.output = error.output or self.output
        raise error

    # ---- What can go wrong ----

    def _place(self, state: dict[str, Any]) -> tuple[int, str]:
        try:
            holder = fitted(state.get("holder"), str, "holder")
            return fitted(state.get("before"), int, "before"), readable(holder, 300)
        except ValueError as error:
            raise self._strange(str(error)) from None

    def _strange(self, what: str) -> ServerError:
        what = readable(what, 300)
        return ServerError(f"The server at {self.address} gave an answer that gemm_lab does not take: {what}")

    def _lost(self, op: str, why: str) -> WorkerLost:
        return WorkerLost(
            f"The server's worker {why} during “{op}”, which was not repeated. It starts again by itself; "
            "run the cell again, unless this kernel may have been the cause."
        )

    def _gone(self, op: str) -> ServerError:
        return ServerError(
            f"The server at {self.address} stopped answering during “{op}”, which was not repeated. Run the cell "
            "again; if that fails, see whether `gemm-lab serve` still runs there."
        )

    # ---- The connection ----

    def _ask(self, method: str, path: str, longest_s: float = ANSWER_S, **options: Any) -> Any:
        with self._lock:
            if self._link is None or self._pid != os.getpid():
                self._link, self._pid = Link(self.address, self.token), os.getpid()
            link = self._link
        try:
            return link.ask(method, path, longest_s, **options)
        except Refusal as refusal:
            if refusal.status == 401 and not self.token:
                raise Refusal(f"The server at {self.address} asks who you are: set GEMM_LAB_TOKEN to the token that "
                              "your teacher gave you.", 401) from None  # fmt: skip
            raise

    def kill(self) -> None:
        """Does nothing: the server ends its own processes."""

    def close(self) -> None:
        """Disconnect from the server; the next request connects again."""
        with self._lock:
            link, self._link, self._facts = self._link, None, None
        if link is not None and self._pid == os.getpid():
            link.close()


def session_at(address: str) -> RemoteSession:
    """This process's connection to a server, for the user whom GEMM_LAB_TOKEN identifies."""
    return _session(address, settings.token())


@lru_cache(maxsize=4)
def _session(address: str, token: str) -> RemoteSession:
    return RemoteSession(address, token=token)


def server() -> RemoteSession | None:
    """The session of the server that GEMM_LAB_SERVER names; None if it is not set and kernels run on this machine."""
    address = settings.server()
    return session_at(address) if address else None


def present() -> hardware.Present | None:
    """The server's GPU; None if its workers run the simulator."""
    facts = server().facts()
    if facts["backend"] != "gpu":
        return None
    known = hardware.GPUS.get(facts.get("gpu") or "")
    return hardware.Present(
        facts["name"], facts["arch"], facts["sms"], tuple(facts["driver"]), facts["memory_gb"], known, facts["uuid"]
    )
