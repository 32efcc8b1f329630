"""A launch that does not end: what it is doing is shown on a terminal, and Ctrl-C names the line."""

import io
import os
import signal
import threading

import numpy as np
import pytest
from compiling import need_compiler

from gpu_simulator import simulate
from gpu_simulator.cli.command_line import main
from gpu_simulator.cli.progress import Progress
from gpu_simulator.cli.terminal import exit_code

ENDLESS = """__device__ void hold(volatile int* flag) {
  while (*flag == 0) {}
}
__global__ void k(volatile int* flag, int* o) {
  if (threadIdx.x >= 8) { __syncthreads(); return; }
  hold(flag);
  *o = 1;
}
"""


class Terminal(io.StringIO):
    def __init__(self, is_terminal: bool):
        super().__init__()
        self.is_terminal, self.written = is_terminal, threading.Event()

    def isatty(self):
        return self.is_terminal

    def write(self, text):
        if "source.cu:2" in text:  # once all the threads that can have come there
            self.written.set()
        return super().write(text)


def interrupt_at(moment: threading.Event) -> None:
    """Press Ctrl-C as soon as an event has happened."""

    def press():
        moment.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


def endless(**options):
    need_compiler()
    simulate(ENDLESS, "k", 2, 32, [np.zeros(1, np.int32), np.zeros(1, np.int32)], max_seconds=60, **options)


def test_an_interrupt_names_the_line():
    with pytest.raises(KeyboardInterrupt) as stopped, Progress(Terminal(True), 0.0, 0.01) as progress:
        interrupt_at(progress.stream.written)
        endless(on_start=progress.begin)
    assert "16 of 64 threads at source.cu:2, called from source.cu:6" in str(stopped.value)
    assert "warp instructions, 2 of 2 blocks begun" in str(stopped.value)
    shown = progress.stream.getvalue()
    assert "threads at source.cu:2" in shown and shown.endswith(" \r"), "the line is wiped in the end"


def test_nothing_is_shown_where_there_is_no_terminal():
    with Progress(Terminal(False), 0.0, 0.0) as progress:
        need_compiler()
        o = np.zeros(1, np.int32)
        simulate(ENDLESS, "k", 1, 1, [np.ones(1, np.int32), o], on_start=progress.begin)
    assert o[0] == 1 and progress.stream.getvalue() == ""


def test_a_command_that_is_stopped_says_so(capsys):
    def stop():
        raise KeyboardInterrupt("32 of 32 threads at k.cu:5")

    assert exit_code("lab", stop) == 130
    assert capsys.readouterr().err == "lab: stopped: 32 of 32 threads at k.cu:5.\n"
    assert exit_code("lab", lambda: (_ for _ in ()).throw(KeyboardInterrupt)) == 130
    assert capsys.readouterr().err == "lab: stopped.\n"


KERNELS = """template <class T, int N = 4> __global__ void __launch_bounds__(64) fill(T* x /* all */, int (*f)(int, int)) {}
struct View { float* p; int n; };
__global__ void scale(
    View v, const float* __restrict__ a, float factor) { v.p[0] = factor * a[0]; }
"""


def test_kernels_are_shown_as_they_are_declared(tmp_path, monkeypatch, capsys):
    need_compiler()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.cu").write_text(KERNELS)
    scale = "scale(View v, const float* __restrict__ a, float factor)"
    with pytest.raises(SystemExit):
        main(["two.cu", "--help"])
    shown = capsys.readouterr().out
    assert f"kernels of two.cu:\n  fill<class T, int N = 4>(T* x, int (*f)(int, int))\n  {scale}\n" in shown
    assert main(["two.cu"]) == 2 and "kernel of two.cu to run:\n  fill<class T, int N = 4>" in capsys.readouterr().err
    assert main(["two.cu", "--kernel", "scale", "--arg", "5"]) == 2
    takes = (
        "scale takes 3 arguments (View v, a struct of 16 bytes, const float* __restrict__ a, float factor), and 1 were"
    )
    assert takes in capsys.readouterr().err
