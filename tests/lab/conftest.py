"""One of everything that shows itself in a notebook, for the tests of how it looks and what showing it costs."""

from dataclasses import replace

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.lab import on_simulator
from gemm_lab.measure.check import verdict
from gemm_lab.notebook import widgets
from gemm_lab.notebook.cells import Uncompiled, WrongResult
from gemm_lab.notebook.exercises import Solved, WrongAnswer
from gemm_lab.notebook.puzzle import YourTurn
from gemm_lab.notebook.scoreboard import scoreboard
from gemm_lab_lessons.ch01.tiling import TileExplorer
from gemm_lab_lessons.ch04.kernel_counts import kernel_counts
from gemm_lab_lessons.ch05.arrangement import arrangement
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_judge import Judged
from gemm_lab_lessons.ch07.shared_roofline import shared_roofline
from gemm_lab_lessons.ch12.generations import generations
from gemm_lab_lessons.shared.fault_injection import inject_fault
from gemm_lab_lessons.shared.three_counts import three_counts
from gemm_results.errors import LabError
from gpu_simulator.compiler import CompileError


@pytest.fixture(scope="session")
def made():
    """One of everything that shows itself, by the name of its class."""
    k = lab.kernel("t4/03")
    run = k.run(128, 256, 64, backend="simulator")  # one block, one step
    counted = replace(run, backend="gpu", report=None, small=on_simulator.count_small(k, run.compiled, 256, 128, 64))
    asked = replace(run, backend="gpu", report=None)  # nothing was counted of it
    ones = np.ones((4, 4))
    board, prediction, exercise = scoreboard(4096, on="h200"), lab.guess("How many?"), lab.exercise("06_swizzle")
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
            k.profile(),
            lab.kernel("hopper/01").timeline(),
        ),
        *(run, counted, asked, run.hot_lines(), run.inspect("load"), WrongResult(run), Uncompiled("mine")),
        *(lab.here(), lab.ladder("t4"), lab.ladder("t4").recorded([4096])),
        *(lab.progress(), lab.simulate("__global__ void one(float* a) { a[0] = 1; }", args=[np.zeros(1, np.float32)])),
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
            lab.swizzle_puzzle(),
            widgets.wavefronts(run, "load"),
            widgets.block_order(),
            widgets.fragments(),
            widgets.mbarrier(),
        ),
        *(
            lab.puzzle("04_bank"),
            YourTurn(lab.puzzle("04_bank")),
            arrangement(lambda row, chunk: row ^ chunk),
            Judged("A goal", "row ^ chunk", "t4/03", True, {"ldmatrix": (8, 8)}, 1024),
        ),
        *(verdict(ones, ones, "integers", k.problem, 4), lab.ladder("t4").recorded([4096]).plot()),
    ]
