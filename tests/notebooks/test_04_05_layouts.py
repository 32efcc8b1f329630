"""What notebook 04 says in prose about banks, held against the models and the recordings."""

import re
from math import gcd

import nbformat
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.cards import theme
from gemm_lab.config import data_dir
from gemm_lab.notebook.kernel_counts import KernelCount, KernelCounts, kernel_counts
from gpu_simulator.hardware import banks
from tools.figures import lines_and_sectors, strides

LANES = np.arange(32)


def test_wavefronts_of_a_stride_are_a_gcd():
    assert strides.counts() == [1] + [gcd(s, 32) for s in strides.STRIDES[1:]]


@pytest.mark.parametrize("stride", range(1, 17))
def test_phases_follow_the_same_rule(stride):
    assert banks.load_wavefronts(16 * stride * LANES[None], 16)[0] == 4 * gcd(stride, 8)
    assert banks.load_wavefronts(8 * stride * LANES[None], 8)[0] == 2 * gcd(stride, 16)


def test_no_conflict_of_ldmatrix_is_worse_than_eight():
    rows = 16 * np.random.default_rng(0).integers(0, 512, (500, 32))
    assert 4 < banks.wavefronts(rows, 16).max() <= banks.wavefronts(128 * LANES[None], 16)[0] == 32


def test_the_paper_count_is_the_recorded_one():
    a, b = lab.swizzle(rows=256, row_bytes=128), lab.swizzle(rows=64, row_bytes=256)
    reads = 2 * a.whole_tile[0] + 4 * b.whole_tile[0]
    stores = sum(tile.change(access="float4 store").whole_tile[0] for tile in (a, b))
    row = kernel_counts("t4/02").rows[0]
    assert 2 * 4 * 8 * (reads + stores) == row.emulator == row.hardware and 6 < row.degree < 8


def test_half_used_lines_are_as_many_sectors():
    assert lines_and_sectors.touched(64) == (16, 8) and lines_and_sectors.touched(128) == (16, 4)


def test_each_store_of_a_takes_two_wavefronts():
    run = lab.kernel("simt/04").run(128)
    stores = [line for line in run.hot_lines().lines if line.text.strip().startswith("smem_a[i % BLOCK_K]")]
    assert [line.degree for line in stores] == [2.0]


# ---- What the stored notebooks answer ----

ANSWERS = {
    "04_banks_and_wavefronts": {
        "toy": "4 wavefronts",
        "same": "“1”",
        "stride": "4 wavefronts",
        "wide": "8 wavefronts",
        "worst": "32 wavefronts",
        "rows64": "4 times",
        "degree": "6.091 times the ideal",
        "shifted": "5 sectors",
        "narrow": "1 time",
    },
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_prediction_has_its_answer(name):
    found = {}
    for cell in nbformat.read(data_dir("notebooks") / f"{name}.ipynb", as_version=4).cells:
        asked = re.search(r"^(\w+)\.compare\(", cell.source, flags=re.M) if cell.cell_type == "code" else None
        if asked:
            text = cell.outputs[-1]["data"]["text/plain"]
            found[asked[1]] = re.match(r"It is (.*?)\. \(You made no prediction", text)[1]
    assert found == ANSWERS[name]


@pytest.mark.parametrize("name", ANSWERS)
def test_every_stored_comparison_agrees(name):
    said = re.findall(r"agree on ([\d,]+) of ([\d,]+)", (data_dir("notebooks") / f"{name}.ipynb").read_text())
    assert said and all(agreeing == of for agreeing, of in said)


# ---- Counts of whole kernels ----


def test_a_count_that_differs_is_coloured():
    page = KernelCounts([KernelCount("k", 1, 10, 20, 21)], 512)._repr_html_()
    assert theme.BAD in page and "NVIDIA H200" in page
    assert "not recorded" in repr(KernelCounts([KernelCount("k", 1, 10, 20, None)], 512))
