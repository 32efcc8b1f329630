"""The addresses that a compiled kernel really uses are those of the layout models."""

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab_lessons.ch05.tile_layout import TileLayout
from gpu_simulator.hardware.bank_schedule import schedule

N = 256


@pytest.fixture(scope="module")
def runs():
    return {
        name: lab.kernel(f"t4/{name}").run(n=N, backend="simulator") for name in ("02_vectorized_copy", "03_swizzled")
    }


def line_of(run, text):
    return next(line.number for line in run.hot_lines().lines if text in line.text and line.wavefronts)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("name", "layout"), [("02_vectorized_copy", "plain"), ("03_swizzled", "xor")])
def test_ldmatrix_of_a_names_rows_of_the_layout(runs, name, layout):
    run = runs[name]
    config = run.kernel.config
    tile = TileLayout(config["BLOCK_M"], config["BLOCK_K"] * 2, layout=layout)
    traced = run.trace(line_of(run, "frag_a[mi][0]"), warp=2)
    base, seen = None, set()
    for access in traced:
        assert access.opcode.startswith("ldmatrix") and access.width == 16
        base = min(access.addresses) // 1024 * 1024 if base is None else base
        row, byte = tile.place(access.addresses - base)
        assert np.array_equal(row - row[0], np.arange(32)) and len(set(byte.tolist())) == 1
        seen.add((int(row[0]), int(byte[0])))
        count = schedule("ldmatrix", access.addresses, 16).count
        assert count == (4 if layout == "xor" else 32)
    assert {byte for _, byte in seen} == set(range(0, 128, 16))


def test_the_trace_adds_up_to_the_reports_wavefronts(runs):
    run = runs["03_swizzled"]
    line = line_of(run, "frag_a[mi][0]")
    counted = next(entry.wavefronts for entry in run.hot_lines().lines if entry.number == line)
    one_warp = sum(schedule("ldmatrix", a.addresses, 16).count for a in run.trace(line))
    blocks, warps = (N // 256) * (N // 128), 8
    assert one_warp * blocks * warps == counted
