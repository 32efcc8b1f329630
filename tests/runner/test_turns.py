"""Programs that share a GPU: one at a time, first come first served, and a dead one blocks nobody."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from gpu_runner import turns
from gpu_runner.faults import GpuBusy
from gpu_runner.session import Session
from gpu_simulator.errors import ConfigError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# A program that takes turns in folder argv[1]: argv[2] times, argv[3] seconds each. It notes in the file argv[4] when a
# turn begins and ends, with its own number, its ticket, and the tickets that were there when it drew that.
PROGRAM = """
import os, sys, time
from gpu_runner import turns
folder, count, seconds, log = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]

class Ticket(turns.Ticket):
    def draw(self):
        super().draw()
        Ticket.drawn = self.path.name
        Ticket.before = [name for name in os.listdir(folder) if name[0] == "t" and name < self.path.name]

def note(what):
    with open(log, "a") as out:
        out.write(" ".join([what, str(os.getpid()), Ticket.drawn, *Ticket.before]) + "\\n")

turns.Ticket = Ticket
queue = turns.Turns(folder, show=lambda text: None)
for _ in range(count):
    with queue.turn("measuring"):
        note("begin")
        time.sleep(seconds)
        note("end")
"""


def program(folder, count, seconds, log):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", PROGRAM, folder, str(count), str(seconds), log], env=environment)


def wait_for(condition, seconds=100.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def queue(tmp_path):
    return turns.Turns(tmp_path / "locks" / "GPU-1", show=lambda text: None)


def test_programs_never_overlap_and_each_comes_to_its_turn(tmp_path):
    log = tmp_path / "log"
    running = [program(tmp_path / "GPU-1", 6, 0.03, log) for _ in range(4)]
    assert [process.wait(100) for process in running] == [0] * 4
    notes = [line.split() for line in log.read_text().splitlines()]
    begins, ends = notes[::2], notes[1::2]
    assert Counter(who for _, who, *_ in begins) == dict.fromkeys((str(process.pid) for process in running), 6)
    assert [("begin", *one[1:]) for one in ends] == [tuple(one) for one in begins], "two had the GPU at once"
    served = [ticket for _, _, ticket, *_ in begins]
    assert any(before for *_, before in ((*one[:3], one[3:]) for one in begins)), "some had to wait"
    for number, (_, _, _, *before) in enumerate(begins):  # first come, first served
        assert set(before) <= set(served[:number])


def test_a_loop_of_launches_lets_others_in(queue, monkeypatch):
    """One program that asks again at once waits behind those who asked meanwhile."""
    served, before, stop = [], [], threading.Event()

    class Ticket(turns.Ticket):
        def draw(self):
            super().draw()
            if threading.current_thread() is not thread:
                before.append(len(served))  # with my place in the queue

    monkeypatch.setattr(turns, "Ticket", Ticket)

    def greedy():
        own = turns.Turns(queue.folder, show=lambda text: None)
        while not stop.is_set():
            with own.turn("running"):
                served.append("greedy")
                time.sleep(0.02)

    thread = threading.Thread(target=greedy)
    thread.start()
    try:
        wait_for(lambda: served)
        with queue.turn("running", wait_s=100):
            assert len(served) - before[0] <= 3
    finally:
        stop.set()
        thread.join()


def test_a_killed_holder_and_a_killed_waiter_block_nobody(queue, tmp_path):
    holder = program(queue.folder, 1, 60, tmp_path / "log")
    wait_for(lambda: queue.folder.exists() and queue.holder())
    waiter = program(queue.folder, 1, 60, tmp_path / "log")
    wait_for(lambda: sum(name.startswith("t") for name in os.listdir(queue.folder)) == 2)  # its ticket, no draft of it
    waiter.kill(), holder.kill()
    waiter.wait(60), holder.wait(60)
    with queue.turn("running", wait_s=0):  # at the first look
        pass
    assert os.listdir(queue.folder) == ["turn"] and queue.holder() == ""


def test_the_wait_is_shown_and_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "QUIET_S", 0.0)
    lines = []
    queue = turns.Turns(tmp_path / "GPU-1", show=lines.append)
    other = turns.Turns(tmp_path / "GPU-1")
    with other.turn("measuring 5 kernels at 4096×4096×4096"), pytest.raises(GpuBusy) as caught:
        queue.turn("running t4/03", wait_s=0.3).__enter__()
    assert "is measuring 5 kernels at 4096×4096×4096, " in str(caught.value)
    assert 'run(…, backend="simulator")' in str(caught.value) and caught.value.before == 0
    assert lines[0].startswith("waiting for the GPU: ") and "measuring 5 kernels" in lines[0] and lines[-1] == ""
    with queue.turn("running", wait_s=1):  # whoever gave up has left no ticket behind
        assert "running" in other.holder()


def test_an_interrupt_while_waiting_leaves_the_queue(tmp_path):
    log, folder = tmp_path / "log", tmp_path / "GPU-1"
    holder = turns.Turns(folder)
    with holder.turn("measuring"):
        waiter = program(folder, 1, 0, log)
        wait_for(lambda: len(os.listdir(folder)) == 2)
        waiter.send_signal(signal.SIGINT)
        waiter.wait(60)
        assert os.listdir(folder) == ["turn"] and not log.exists()


def interrupted_at(line):
    """A function for `sys.settrace` that raises KeyboardInterrupt at the line-th line that runs in turns.py."""
    passed = 0

    def trace(frame, event, _):
        nonlocal passed
        if frame.f_code.co_filename != turns.__file__:
            return None
        passed += event == "line"
        if passed == line:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    return trace


def test_an_interrupt_at_any_line_before_the_turn_leaves_the_queue(queue):
    line, entered = 0, False
    while not entered:
        line += 1
        sys.settrace(interrupted_at(line))
        try:
            with queue.turn("measuring"):
                sys.settrace(None)
                entered = True
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        other = turns.Turns(queue.folder)
        with other.turn("running", wait_s=0):
            assert os.listdir(queue.folder) == ["turn"]
        os.close(other.fd)
    assert line > 20


def test_a_broken_note_is_no_error(queue):
    with queue.turn("measuring"):
        os.ftruncate(queue.fd, 0)
        os.pwrite(queue.fd, b'{"who": "ad', 0)
        assert queue.holder() == "another program has it"


def test_a_folder_that_cannot_be_used_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="GEMM_LAB_LOCKS"):
        turns.Turns(tmp_path / "file" / "GPU-1").turn("running").__enter__()


def test_other_users_can_use_the_folder(queue):
    with queue.turn("running"):
        assert (queue.folder / "turn").stat().st_mode & 0o777 == 0o666
        assert queue.folder.stat().st_mode & 0o1777 == queue.folder.parent.stat().st_mode & 0o1777 == 0o1777


def test_the_names_of_requests():
    entry = {"m": 4096, "n": 4096, "k": 512, "entries": [1, 2]}
    assert turns.activity("benchmark", entry) == "measuring 2 kernels at 4096×4096×512"
    assert turns.activity("launch", {"compiled": {"name": "t4/03"}}) == "running t4/03"
    assert turns.activity("hello", {}) == "looking at the GPU"


def test_a_notebook_is_named(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "notebooks/06a_t4_feeding_tensor_cores.ipynb")
    monkeypatch.setenv("LOGNAME", "ada")
    assert turns.me() == "ada (06a_t4_feeding_tensor_cores)"


def test_a_line_that_renews_itself_and_a_log(capsys, monkeypatch):
    show = turns.Waiting()
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    for text in ("waiting, 1 s", "waiting, 2 s", ""):
        show(text)
    assert capsys.readouterr().err == "\rwaiting, 1 s\n"  # a log
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    for text in ("waiting, 10 s", "waiting, 9 s", "waiting, 9 s", ""):
        show(text)
    assert capsys.readouterr().err == "\rwaiting, 10 s\rwaiting, 9 s \r            \r"


# ---- With sessions and their workers ----


def session(queue, **options):
    os.environ["PYTHONPATH"] = os.pathsep.join(
        dict.fromkeys([str(HERE), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
    )
    return Session("fake_operations", patience_s=60.0, queue=queue, **options)


def test_two_sessions_share_a_gpu(queue):
    first, second = session(queue), session(turns.Turns(queue.folder, show=lambda text: None))
    spans = []

    def log(one):
        for _ in range(4):
            spans.append(one.request("span", seconds=0.03))

    threads = [threading.Thread(target=log, args=(one,)) for one in (first, second)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    spans.sort()
    assert len(spans) == 8 and all(a[1] <= b[0] for a, b in zip(spans, spans[1:], strict=False))
    first.close(), second.close()


def test_the_gpu_is_taken_until_the_worker_of_a_killed_notebook_is_gone(queue, tmp_path):
    """The worker holds the lock, too: its kernel may run on after the notebook was killed."""
    note, script = tmp_path / "pid", tmp_path / "learner.py"
    script.write_text(
        "from gpu_runner.session import Session\nfrom gpu_runner.turns import Turns\n"
        f"Session('fake_operations', queue=Turns({str(queue.folder)!r})).request('answer_slowly', path={str(note)!r})\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}
    notebook = subprocess.Popen([sys.executable, str(script)], env=environment)
    wait_for(lambda: note.exists() and note.read_text())
    worker = int(note.read_text())
    os.kill(worker, signal.SIGSTOP)  # as if its kernel could not be stopped yet
    notebook.kill()
    notebook.wait(60)
    assert queue.holder()
    os.kill(worker, signal.SIGCONT)
    with queue.turn("running", wait_s=100):
        assert not Path(f"/proc/{worker}").exists() or "Z" in Path(f"/proc/{worker}/stat").read_text()


def test_after_a_hang_others_get_the_gpu(queue):
    first, second = session(queue), session(turns.Turns(queue.folder, show=lambda text: None))
    with pytest.raises(Exception, match="silent"):
        first.request("hang", timeout_s=0.3)
    assert second.request("pid") > 0
    first.close(), second.close()


@pytest.mark.long
def test_an_idle_worker_leaves_and_the_next_request_starts_another(queue, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_IDLE_S", "0.3")
    one = session(queue)
    first = one.request("pid")
    wait_for(lambda: not one.alive)
    assert one.request("pid") != first
    for wait in (0.28, 0.29, 0.295, 0.3, 0.305, 0.31):  # about when it leaves
        time.sleep(wait)
        assert one.request("pid") > 0
    one.close()


@pytest.mark.parametrize("text", ["soon", "0", "-3", "inf"])
@pytest.mark.parametrize("name", ["GEMM_LAB_WAIT_S", "GEMM_LAB_IDLE_S"])
def test_settings_that_are_no_seconds(name, text, monkeypatch):
    from gpu_runner import settings

    monkeypatch.setenv(name, text)
    with pytest.raises(ConfigError, match=name):
        (settings.wait_s if "WAIT" in name else settings.idle_s)()
