"""A server with one worker, as of one GPU: when it is killed, those who wait are served by the one that replaces it."""

import os
import signal
import threading
import time

import pytest

pytest.importorskip("tornado", reason="the extra classroom is not installed")

from serving import Server, compiled, job, workers

from gpu_runner.faults import WorkerLost

CLIENTS, LAUNCHES, PATIENCE_S = 6, 8, 150


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_queue_goes_on_with_the_worker_that_replaces_it():
    server, kernel = Server(workers=1, people=CLIENTS), compiled()
    try:
        sessions = [server.session(number) for number in range(CLIENTS)]
        (victim,), found = workers(sessions[0]), []

        def client(one):
            for _ in range(LAUNCHES):
                try:
                    job(one, kernel)
                    found.append("result")
                except WorkerLost:
                    found.append("lost")

        threads = [threading.Thread(target=client, args=(one,), daemon=True) for one in sessions]
        [thread.start() for thread in threads]
        while len(found) < CLIENTS * LAUNCHES // 2:
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)
        end = time.monotonic() + PATIENCE_S
        [thread.join(max(0.0, end - time.monotonic())) for thread in threads]
        assert len(found) == CLIENTS * LAUNCHES, "those who waited still wait"
        assert found.count("lost") <= 1 and workers(sessions[0]) != {victim}
        [one.close() for one in sessions]
    finally:
        server.stop()
