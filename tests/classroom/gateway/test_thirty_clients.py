"""Thirty clients and two workers, one of which is killed: everybody is answered once, and nobody waits for long."""

import os
import signal
import statistics
import threading
import time
from collections import Counter
from typing import NamedTuple

import pytest

pytest.importorskip("tornado", reason="the extra classroom is not installed")

from serving import Server, compiled, job, status, wait_for, workers

from gpu_runner.faults import WorkerLost

CLIENTS = 30


@pytest.fixture
def server():
    one = Server(people=CLIENTS)
    yield one
    one.stop()


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("launches", [3, pytest.param(10, marks=pytest.mark.long)])
def test_thirty_clients_and_a_worker_that_is_killed(server, launches):
    """30 clients ask a few times each, one launch after another; in the middle one of the two workers is killed.

    A wait is what passes from asking to the answer, queue and launch together, counted in answers that others got
    meanwhile, so that a machine busy with other things changes nothing. Every launch is answered once, with the right
    result or a failure that says so; only what the killed worker did fails, nothing is sent twice, nobody is served
    more than twice while another waits, and the worker comes back.
    """
    sessions = [server.session(number) for number in range(CLIENTS)]
    kernel, answers, before = compiled(repeat=2), [], workers(sessions[0])
    assert len(before) == 2
    [one.facts() for one in sessions]

    def client(number, one):
        for launch in range(launches):
            start, there = time.monotonic(), len(answers)
            try:
                job(one, kernel, seed=100 * number + launch)
                found = "result"
            except WorkerLost as error:
                found = str(error)
            except Exception as error:  # none is expected; the assertion below shows it
                found = repr(error)
            answers.append(Answer(number, launch, found, there, len(answers), time.monotonic() - start))

    threads = [threading.Thread(target=client, args=item) for item in enumerate(sessions)]
    [thread.start() for thread in threads]
    wait_for(lambda: len(answers) >= CLIENTS * launches // 2, 120)
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    for thread in threads:
        thread.join(120)

    asked = Counter((answer.client, answer.launch) for answer in answers)
    assert asked == Counter((number, launch) for number in range(CLIENTS) for launch in range(launches))
    failures = [answer.found for answer in answers if answer.found != "result"]
    # The job under way; an answer that was finished is safe with the gateway.
    assert len(failures) <= 1 and all("worker ended" in text and "not repeated" in text for text in failures), failures
    assert sum(status(sessions[0])["served"].values()) == CLIENTS * launches, "nothing is sent twice"

    # Of one client, in order: everybody else is answered at most twice (and once for each worker) meanwhile.
    waits = [answer.answered - answer.asked for answer in answers]
    seconds = [answer.seconds for answer in answers]
    print(
        f"\nlongest wait {max(waits)} answers of others, median {statistics.median(waits):.0f}; "
        f"in seconds {max(seconds):.2f} and {statistics.median(seconds):.2f}; {len(failures)} failed"
    )
    assert max(waits) <= 2 * CLIENTS + 2

    wait_for(lambda: len(workers(sessions[0])) == 2)
    assert victim not in workers(sessions[0]) and before & workers(sessions[0])
    [one.close() for one in sessions]


class Answer(NamedTuple):
    """One launch: `asked` and `answered` count the answers that everybody had until then."""

    client: int
    launch: int
    found: str
    asked: int
    answered: int
    seconds: float
