"""A whole class at once, with everything going wrong: every launch ends in exactly one answer or one sentence.

50 students launch 10 tiny kernels each through one gateway with two workers that simulate. After a fifth of the answers
one worker is killed, after two fifths another is stopped; a liar asks for 20 turns under invented names again and
again; 600 sockets are half open; a request of a gigabyte comes in between. The load goes to this machine alone and ends
by itself. Run it with its figures: `pytest -m long -s tests/attacks/test_gateway_load.py`.
"""

import contextlib
import os
import signal
import socket
import statistics
import threading
import time
import uuid
from collections import Counter

import httpx
import numpy as np
import pytest

pytest.importorskip("distributed", reason="the extra classroom is not installed")

from serving import Server, compiled, status, wait_for, workers

from gpu_runner.transport import wire
from gpu_runner.transport.codec import encoded
from gpu_simulator.errors import LabError

TINY = """extern "C" __global__ void __launch_bounds__(64) gemm(const float* a, float* d, int n) {
  d[threadIdx.x] = a[threadIdx.x] + n;
}
"""
ENDLESS = """extern "C" __global__ void __launch_bounds__(64) gemm(float* a, float* d, int n) {
  while (((volatile float*)a)[0] < 1e9f) ;
}
"""
CLIENTS, LAUNCHES = 50, 10


class Class:
    """Students in threads; what came of each launch, and after how many seconds."""

    def __init__(self, server, clients, launches):
        self.found, self.lock, self.kernel, self.launches = [], threading.Lock(), compiled(source=TINY), launches
        sessions = [server.session(number) for number in range(clients)]
        self.threads = [threading.Thread(target=self.student, args=item, daemon=True) for item in enumerate(sessions)]

    def student(self, number, session):
        for launch in range(self.launches):
            begun = time.monotonic()
            try:
                a = np.full(64, 100 * number, np.float32)
                answer = session.request(
                    "simulate", compiled=self.kernel, grid=(1, 1, 1), args=[a, np.zeros_like(a), launch]
                )
                said = "answer" if np.array_equal(answer["arrays"][1], a + launch) else "a wrong answer"
            except LabError as error:
                said = str(error)
            except Exception as error:  # none is expected; the assertion below shows it
                said = f"an unexpected {error!r}"
            with self.lock:
                self.found.append((number, launch, said, time.monotonic() - begun))
        session.close()


def liar(server, person, stop):
    """Twenty tickets with invented names, as often as it can; half of them are left again at once."""
    body = b"".join(
        encoded(
            {
                "op": "simulate",
                "timeout_s": None,
                "patience_s": 5.0,
                "fresh": False,
                "payload": {
                    "compiled": compiled(source=ENDLESS),
                    "grid": (1, 1, 1),
                    "args": [np.zeros(64, np.float32)] * 2 + [1],
                    "max_seconds": 1.0,
                },
            }
        )
    )
    http = httpx.Client(
        base_url=server.address,
        trust_env=False,
        timeout=30,
        headers={"Authorization": f"Bearer {server.tokens[f'student{person}']}"},
    )
    while not stop.is_set():
        tickets = [uuid.uuid4().hex for _ in range(20)]
        for ticket in tickets:
            query = {
                "op": "simulate",
                "backend": "simulator",
                "arch": "",
                "protocol": str(wire.PROTOCOL),
                "what": ticket,
                "who": ticket,
            }
            with contextlib.suppress(httpx.HTTPError):
                http.post(f"/v1/jobs/{ticket}", params=query, content=body)
        for ticket in tickets[::2]:
            with contextlib.suppress(httpx.HTTPError):
                http.delete(f"/v1/jobs/{ticket}")
        stop.wait(1.0)


def gigabyte(server, person):
    """A request of 1 GB, with its length declared."""
    query = f"op=simulate&backend=simulator&arch=&protocol={wire.PROTOCOL}"
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), timeout=30) as line:
        line.sendall(
            f"POST /v1/jobs/{uuid.uuid4().hex}?{query} HTTP/1.1\r\nHost: x\r\nContent-Length: {1 << 30}\r\n"
            f"Authorization: Bearer {server.tokens[f'student{person}']}\r\n\r\n".encode()
        )
        for _ in range(1024):
            line.sendall(bytes(1 << 20))


def run(clients, launches, half_open):
    """The load; its outcomes, and the figures printed."""
    server = Server(workers=2, people=clients + 2)
    stop, watcher = threading.Event(), server.session(clients)
    try:
        mother = server.family()[0]
        before, memory = workers(watcher), mother.memory_info().rss
        idle = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(half_open)]
        one = Class(server, clients, launches)
        others = [
            threading.Thread(target=liar, args=(server, clients + 1, stop), daemon=True),
            threading.Thread(target=gigabyte, args=(server, clients), daemon=True),
        ]
        begun = time.monotonic()
        [thread.start() for thread in [*one.threads, *others]]
        total = clients * launches
        wait_for(lambda: len(one.found) >= total // 5, 300)
        os.kill(min(before), signal.SIGKILL)
        wait_for(lambda: len(one.found) >= 2 * total // 5, 300)
        with contextlib.suppress(ProcessLookupError):
            os.kill(max(before), signal.SIGSTOP)
        for thread in one.threads:
            thread.join(600)
        seconds = time.monotonic() - begun
        served = status(watcher)["served"]
        stop.set()
        [thread.join(60) for thread in others]
        grown = mother.memory_info().rss - memory
        wait_for(lambda: len(workers(watcher)) == 2 and not before & workers(watcher), 90)
        [line.close() for line in idle]
        return one.found, served, seconds, grown
    finally:
        stop.set()
        server.stop()


@pytest.mark.long
@pytest.mark.parametrize(("clients", "launches", "half_open"), [
    pytest.param(8, 4, 100, id="sample"), pytest.param(CLIENTS, LAUNCHES, 600, id="class"),
])  # fmt: skip
@pytest.mark.timeout(900)
def test_every_launch_ends_in_one_answer_or_one_sentence(clients, launches, half_open):
    found, served, seconds, grown = run(clients, launches, half_open)
    asked = Counter((number, launch) for number, launch, _, _ in found)
    assert asked == Counter({(number, launch): 1 for number in range(clients) for launch in range(launches)})
    said = Counter(text for _, _, text, _ in found)
    answers = said.pop("answer", 0)
    waits = [wait for _, _, _, wait in found]
    print(
        f"\n{clients} students × {launches} launches in {seconds:.0f} s: {answers} answers, {sum(said.values())} sentences; "
        f"wait: median {statistics.median(waits):.2f} s, longest {max(waits):.2f} s; "
        f"the liar was served {served.get(f'student{clients + 1}', 0)} times; the gateway grew by {grown / 2**20:.0f} MB"
    )
    for text, times in said.items():
        print(f"  {times} × {text}")
    assert all("worker ended" in text or "no sign of life" in text for text in said), said
    assert sum(said.values()) <= 2, "one job was on each worker that went"
    assert sum(served.get(f"student{number}", 0) for number in range(clients)) == clients * launches, (
        "nothing is sent twice"
    )
    assert grown < 200 << 20
