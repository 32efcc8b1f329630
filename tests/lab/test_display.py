"""Display does no work: nothing that shows itself compiles, launches, emulates or asks for the GPU to do so."""

import inspect
import pkgutil
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import gemm_lab
import gemm_lab as lab
import gpu_runner as device
import gpu_simulator as emulator
from gemm_lab.lab import emulating
from gemm_lab.measure.check import verdict
from gemm_lab.notebook import widgets
from gemm_lab.notebook.cells import WrongResult
from gemm_lab.notebook.exercises import Solved, WrongAnswer
from gemm_lab.notebook.fault_injection import inject_fault
from gemm_lab.notebook.generations import generations
from gemm_lab.notebook.kernel_counts import kernel_counts
from gemm_lab.notebook.scoreboard import scoreboard
from gemm_lab.notebook.shared_roofline import shared_roofline
from gemm_lab.notebook.three_counts import three_counts
from gemm_lab.notebook.widgets.tiling import TileExplorer
from gpu_simulator import compiler, launching
from gpu_simulator.compiler import CompileError
from gpu_simulator.compiler.compiler_process import CompilerProcess
from gpu_simulator.errors import LabError

SHOWS = ("_repr_html_", "_repr_png_", "_repr_mimebundle_")


def made():
    """One of everything that shows itself, by the name of its class."""
    k = lab.kernel("t4/03")
    run = k.run(256, backend="emulator")
    counted = replace(run, backend="gpu", report=None, small=emulating.count_small(k, run.compiled, 256, 256, 256))
    asked = replace(run, backend="gpu", report=None)  # nothing was counted of it
    ones = np.ones((4, 4))
    board, prediction, exercise = scoreboard(4096, on="h200"), lab.predict("How many?"), lab.exercise("06_swizzle")
    edited = k.edit(layout=k.regions["layout"] + "\n")
    with pytest.raises(CompileError) as wrong:
        k.edit(layout="no C++").compile()
    return [
        *(
            k,
            edited,
            k.diff(),
            k.sass(),
            k.instruction_mix(),
            k.profile(record=False),
            lab.kernel("hopper/01").timeline(),
        ),
        *(run, counted, asked, run.hot_lines(), run.inspect("load"), WrongResult(run)),
        *(lab.here(), lab.ladder("t4"), lab.ladder("t4").recorded([4096])),
        *(board, board.gains("t4"), board.published("t4"), prediction, prediction.compare(3), exercise),
        *(
            Solved("A task", [("wavefronts", "1.00")]),
            WrongAnswer(exercise, ["It is wrong."]),
            wrong.value,
            LabError("No."),
        ),
        *(generations("simt/04", size=(64, 64, 64)), kernel_counts("t4/03"), shared_roofline("ampere/04")),
        *(three_counts("ldmatrix.x4"), inject_fault("rtx5090/02", {"mbarrier_wait_parity(full, 0);": ""})),
        *(lab.figure("banks_and_wavefronts"), lab.swizzle(rows=64, row_bytes=128), TileExplorer()),
        *(
            lab.zoom(run),
            widgets.wavefronts(run, "load"),
            widgets.block_order(),
            widgets.fragments(),
            widgets.mbarrier(),
        ),
        *(verdict(ones, ones, "integers", k.problem, 4), lab.ladder("t4").recorded([4096]).plot()),
    ]


def show(thing):
    """Everything that a notebook or a terminal asks an object for, and its properties."""
    repr(thing), str(thing)
    for name in SHOWS:
        if hasattr(thing, name):
            getattr(thing, name)()
    for base in type(thing).__mro__:
        for name, value in vars(base).items():
            if base.__module__.startswith("gemm_lab") and isinstance(value, property):
                getattr(thing, name)


def test_what_is_shown_was_computed_before(monkeypatch, capsys):
    things = made()

    def refuse(*_, **__):
        pytest.fail("work was done for display")

    for place, names in (
        (compiler, ("compile", "disassemble")),
        (CompilerProcess, ("ask",)),
        (emulator, ("launch",)),
        (launching, ("launch",)),
        (emulating, ("launch", "check_on_emulator", "find_hazards", "search")),
        (device, ("available", "present", "launch", "session", "emulating_server", "why_not")),
    ):
        for name in names:
            monkeypatch.setattr(place, name, refuse)
    for thing in things:
        show(thing)


@pytest.mark.long
def test_of_everything_that_shows_itself_one_is_made():
    """A class that is new has to be added above."""
    seen = {base.__name__ for thing in made() for base in type(thing).__mro__}
    missing = []
    for module in pkgutil.walk_packages(gemm_lab.__path__, "gemm_lab."):
        if module.name.endswith("__main__"):
            continue
        for name, found in inspect.getmembers(import_module(module.name), inspect.isclass):
            own = found.__module__ == module.name and any(shows in vars(found) for shows in SHOWS)
            if own and name not in seen:
                missing.append(f"{module.name}.{name}")
    assert missing == []
