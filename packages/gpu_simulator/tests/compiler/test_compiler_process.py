"""A compiler that crashes or never ends: an error, and the notebook's own process lives."""

import os
import signal
import sys
import threading
import time

import compiling
import pytest

from gpu_simulator import compiler
from gpu_simulator.compiler import compiler_process, nvrtc_library
from gpu_simulator.compiler.compiler_process import CompilerProcess, CompilerStalled, Lost
from gpu_simulator.errors import SimulatorError

HEADERS = [str(compiling.HEADERS)]
SOURCE = 'extern "C" __global__ void __launch_bounds__(32) gemm(int* out) {{ out[0] = {value}; }}\n'


def question(value):
    return (SOURCE.format(value=value), {}, "sm_75", "kernel", HEADERS, [])


@pytest.fixture
def own():
    made = CompilerProcess()
    yield made
    made.end()


def test_it_answers_as_the_compiler_does(own):
    assert own.ask(*question(1)) == nvrtc_library.run_nvrtc(*question(1))
    log, ptx, cubin = own.ask(*question("nothing"))
    assert "nothing" in log and ptx is cubin is None


def test_what_the_compiler_refuses_is_raised_here(own):
    with pytest.raises(SimulatorError, match="cannot compile for sm_11"):
        own.ask(SOURCE, {}, "sm_11", "kernel", HEADERS, [])


def test_one_process_answers_all(own):
    own.ask(*question(1))
    first = own._process.pid
    own.ask(*question(2))
    assert own._process.pid == first != os.getpid()


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("import sys; sys.exit(3)", "exit code 3"),
        ("print('not an answer')", "exit code 0"),
    ],
)
def test_a_crash_is_named(program, how):
    made = CompilerProcess([sys.executable, "-c", program])
    for _ in range(2):  # and the next question starts another process
        with pytest.raises(Lost, match=f"it crashed .{how}"):
            made.ask(*question(1))


WORKS, SLEEPS = "while True: pass", "import time; time.sleep(600)"


def test_one_that_never_ends_is_stopped_after_its_processor_time():
    made = CompilerProcess([sys.executable, "-c", WORKS], cpu_s=0.5, word_s=0.1)
    with pytest.raises(Lost, match="had not ended after 0.5 seconds of processor time"):
        made.ask(*question(1))
    assert made._process is None


def test_one_that_does_not_work_is_the_machines_fault_and_no_verdict_on_the_text():
    made = CompilerProcess([sys.executable, "-c", SLEEPS], word_s=0.1, stalled_s=0.5)
    with pytest.raises(CompilerStalled, match="got no processor time for 0.5 seconds"):
        made.ask(*question(1))
    assert made._process is None


def test_one_that_was_stopped_for_a_while_answers_when_it_goes_on(own):
    own.ask(*question(1))
    pid = own._process.pid
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(1.5, os.kill, (pid, signal.SIGCONT)).start()
    assert own.ask(*question(2))[2] and own._process.pid == pid


def test_one_that_takes_long_says_so(capfd):
    made = CompilerProcess([sys.executable, "-c", WORKS], cpu_s=1.0, word_s=0.2)
    with pytest.raises(Lost):
        made.ask(*question(1))
    assert capfd.readouterr().err.count("The compiler has been at work") == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"log": 1, "ptx": "x"},
        {"log": "x"},
        [],
        None,
        {"log": "", "ptx": 1},
        "text",
    ],
)
def test_what_is_no_answer_counts_as_a_crash(answer):
    program = (
        "import sys; from gpu_simulator.compiler import compiler_process as c; c.read_message(sys.stdin.buffer); "
        f"sys.stdout.buffer.write(c.packed({answer!r})); sys.stdout.flush()"
    )
    made = CompilerProcess([sys.executable, "-c", program])
    with pytest.raises(Lost):
        made.ask(*question(1))


def test_an_error_that_is_none_of_ours_is_never_built_from_its_name():
    program = (
        "import sys; from gpu_simulator.compiler import compiler_process as c; c.read_message(sys.stdin.buffer); "
        "sys.stdout.buffer.write(c.packed({'error': 'SystemExit', 'says': 'out'})); sys.stdout.flush()"
    )
    with pytest.raises(SimulatorError, match="out") as caught:
        CompilerProcess([sys.executable, "-c", program]).ask(*question(1))
    assert type(caught.value) is SimulatorError


def test_a_quick_one_says_nothing(own, capfd):
    own.ask(*question(1))
    assert capfd.readouterr().err == ""


@pytest.mark.long
def test_a_text_that_wants_all_memory_is_an_error_and_the_next_one_compiles(monkeypatch):
    made = CompilerProcess(
        [
            sys.executable,
            "-c",
            "from gpu_simulator.compiler import compiler_process as c; c.limit_memory.__defaults__ = (1 << 30,); c.main()",
        ]
    )
    bomb = "#define A0 1+1+1+1+1+1+1+1\n" + "".join(
        f"#define A{i + 1} " + "+".join([f"A{i}"] * 8) + "\n" for i in range(9)
    )
    try:
        log, ptx, _ = made.ask(bomb + "int q = A9;\n", {}, "sm_75", "kernel", HEADERS, [])
        assert ptx is None and "out of memory" in log
    except Lost as lost:
        assert "it crashed" in str(lost)
    assert made.ask(*question(2))[2]
    made.end()


def test_after_a_crash_it_compiles_again(own):
    own.ask(*question(1))
    os.kill(own._process.pid, signal.SIGKILL)
    time.sleep(0.2)
    assert own.ask(*question(2))[2]


def test_threads_get_their_own_answers(own):
    found = {}

    def one(value):
        found[value] = own.ask(*question(value))[1]

    threads = [threading.Thread(target=one, args=(value,)) for value in (1001, 1002, 1003)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(str(value) in ptx for value, ptx in found.items()) and len(found) == 3


def test_a_crash_is_a_compile_error(monkeypatch, tmp_path):
    monkeypatch.setattr(compiler_process, "COMPILER", CompilerProcess([sys.executable, "-c", "import os; os.abort()"]))
    with pytest.raises(
        compiler.CompileError, match=r"NVRTC \d+\.\d+ crashed while compiling this source: it crashed .SIGABRT"
    ) as caught:
        compiler.compile('extern "C" __global__ void gemm() {}', arch="sm_75", cache=tmp_path)
    assert "Undo the last change or write it differently." in caught.value._repr_html_()
