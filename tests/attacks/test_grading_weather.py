"""A machine that is busy, or that suspends the grader, changes no grade.

A grader is stopped (SIGSTOP) and goes on (SIGCONT) at seeded moments, as on a laptop that is closed or a virtual machine
that is moved; and answers are judged beside loops that keep every core busy. The verdicts are those of a quiet machine.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from attack_scale import FULL, count

from gemm_lab_classroom import grading
from gemm_lab_classroom.grading import grade
from gemm_lab_classroom.skeletons import skeleton, solution

pytestmark = [
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="the system stops no processes"),
]
NAME, SEED = "06_pipeline", 7
STOP_S = 30.0 if FULL else 1.5
ENDLESS = "    volatile int again = threadIdx.x == 0;\n    while (again) acc += 0.0f;\n"


@pytest.fixture(scope="module")
def quiet():
    """The grade of the right answer without any disturbance."""
    found = grade(NAME, solution(NAME), seed=SEED)
    assert found.passed
    return found


def group(leader):
    """The processes of a session: the grader, its compiler, and what they started."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == leader:  # its session
                found.append(int(name))
    return found


@pytest.fixture
def stopped(monkeypatch):
    """A way to grade with a stop of the grader's processes, after so many seconds and for so many."""
    started = []
    real = subprocess.Popen

    def popen(*command, **options):
        process = real(*command, **options)
        if options.get("start_new_session"):
            started.append(process)
        return process

    monkeypatch.setattr(grading.subprocess, "Popen", popen)

    def run(after_s, for_s, **options):
        stops = []

        def disturb():
            while not started:
                time.sleep(0.01)
            time.sleep(after_s)
            for pid in group(started[0].pid):
                try:
                    os.kill(pid, signal.SIGSTOP)
                    stops.append(pid)
                except ProcessLookupError:
                    continue
            time.sleep(for_s)
            for pid in stops:
                try:
                    os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    continue

        thread = threading.Thread(target=disturb, daemon=True)
        thread.start()
        found = grade(NAME, solution(NAME), seed=SEED, **options)
        thread.join()
        return found

    return run


@pytest.mark.long
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize("number", range(count(10, 2)))
def test_a_grader_that_is_stopped_for_a_while_gives_the_same_grade(number, stopped, quiet):
    after = random.Random(f"moment {number}").uniform(0, 8 if FULL else 4)
    assert stopped(after, STOP_S) == quiet


@pytest.mark.long
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_grader_that_is_stopped_for_longer_than_anybody_waits_is_replaced(stopped, quiet, monkeypatch):
    """What stands still is given up, here after two seconds, and a second process judges, with all the time it needs."""
    real, asked = grading._answer_of, []

    def answer_of(process, patience_s):
        asked.append(process)
        return real(process, patience_s if len(asked) > 1 else 2.0)

    monkeypatch.setattr(grading, "_answer_of", answer_of)
    assert stopped(0.5, 5.0) == quiet and len(asked) == 2


@pytest.fixture
def busy():
    """Loops that keep the machine busy while a test runs; they end on their own, too."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "import time\nend = time.time() + 900\nwhile time.time() < end: pass"])
        for _ in range(4)
    ]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


ANSWERS = [
    (NAME, solution(NAME), "PASS"),
    ("02_inner_product", skeleton("02_inner_product"), "FAIL"),
    ("02_inner_product", ENDLESS + solution("02_inner_product"), "FAIL"),
    ("02_warp_tile", "choice = dict(warps_m=4, warps_n=2)", "PASS"),
]


@pytest.mark.long
def test_a_busy_machine_gives_the_grades_of_a_quiet_one(busy, quiet):
    found = [grade(name, text, seed=SEED) for name, text, _ in ANSWERS]
    assert [one.verdict for one in found] == [verdict for _, _, verdict in ANSWERS]
    assert found[0] == quiet
    assert "steps of the simulator; it spins at cell:" in found[2].message


@pytest.mark.long
def test_no_clock_takes_part_in_judging(monkeypatch):
    """Whatever the clocks say: hours between any two looks at them."""
    from gemm_lab_classroom.grading import judged

    def leaping(real, factor):
        first = real()
        return lambda: first + (real() - first) * factor

    some = [answer for answer in ANSWERS if ENDLESS not in answer[1]]
    expected = [judged(name, text, SEED) for name, text, _ in some]
    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, leaping(getattr(time, name), 1e5))
    assert [judged(name, text, SEED) for name, text, _ in some] == expected
