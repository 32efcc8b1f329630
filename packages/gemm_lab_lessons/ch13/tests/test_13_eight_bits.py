"""Notebook 13: the sums of its model and of the rungs on the simulator, scales, what was recorded, and its pictures."""

import ml_dtypes
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab_lessons.ch13 import quantised, recorded, sums
from gemm_results.profile import read_rows
from gemm_results.results import read
from gpu_simulator.hardware.data_sheets import gpu


def after(c, *steps):
    """The accumulator after steps of (products, factor, factor), c at first."""
    for count, x, y in steps:
        a, b = np.full((1, count), x, np.float32), np.full((count, 1), y, np.float32)
        c = float(sums.add_block(np.full((1, 1), c, np.float32), a, b, sums.HOPPER)[0, 0])
    return c


def test_what_becomes_of_sixty_four_ones():
    ones = [(32, 1, 1)] * 2
    assert after(16384, *ones) == 16384 and after(8192, *ones) == 8256
    assert after(0, *ones, (1, 128, 128)) == 16448


@pytest.mark.parametrize(("rung", "promoted"), [("01_fast_sums", 0), ("02", 128), ("03", 128)])
@pytest.mark.parametrize("positive", [True, False])
def test_a_rung_sums_as_the_model_does_bit_for_bit(rung, promoted, positive):
    a, b = sums.operands(1200, positive, 136)
    d = lab.kernel(f"hopper_fp8/{rung}").gemm(a[:, :1168], b[:1168])
    model = sums.product(a[:, :1168], b[:1168], promoted=promoted).astype(d.dtype)
    assert np.array_equal(d.view(np.uint16), model.view(np.uint16))


def test_a_late_promotion_is_refused():
    kernel = lab.kernel("hopper_fp8/02")
    text = kernel.source
    for old, new in (
        ("multiply = [&](int stage)", "multiply = [&](int stage, int k_tile)"),
        ("multiply(stage)", "multiply(stage, k_tile)"),
        ("k > 0);", "k > 0 || k_tile % 256);"),
        ("promote();", "if (k_tile % 256 || k_tile + BLOCK_K >= K) promote();"),
    ):
        assert old in text
        text = text.replace(old, new)
    run = kernel.rewrite(text).run(n=192, m=128, k=1024, predict=False)
    assert not run.passed and "16,384" in repr(run)


def test_a_late_promotion_is_another_sum():
    a, b = sums.operands(1024, True)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    in_time, late = (sums.error(sums.product(a, b, promoted=every), exact) for every in (128, 256))
    assert late > 2 * in_time


def test_what_the_notebook_says_about_errors_by_k():
    found = {}
    for positive in (True, False):
        a, b = sums.operands(4096, positive)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        found[positive] = [sums.error(sums.product(a, b, promoted=every), exact) for every in (0, 128)]
    assert 0.06 < found[True][0] < 0.08 and found[True][1] < 0.001
    assert 0.001 < found[False][0] < 0.003 and found[False][1] < 0.0002


def test_outliers_of_thousands_do_no_harm_and_those_of_millions_do():
    energies = quantised.energies()
    for kind in ("tensor", "row"):
        lost = (energies / quantised.scales(energies, kind)).astype(ml_dtypes.float8_e4m3fn) == 0
        assert 0.78 < lost.mean() < 0.84
    amplitudes = np.sqrt(energies)
    assert 0.22 < (amplitudes < amplitudes.max() / 28672).mean() < 0.26
    of = quantised.errors(amplitudes, np.abs(quantised.weights(amplitudes))).of["tensor"]
    assert of[0] < 0.003 and of[1] > 5 * of[0] and of[2] < 1.3 * of[0]  # where a promotion pays
    for matrix, tensor, block in ((np.sqrt(energies), 0.04, 0.04), (energies, 0.6, 0.04)):
        of = quantised.errors(matrix, quantised.weights(matrix)).of
        assert tensor / 2 < of["tensor"][0] < tensor and of["row"][0] > tensor / 2 and of["block"][0] < block
        assert all(abs(of[kind][0] - of[kind][2]) < 0.001 for kind in of)


def test_block_scales_are_those_that_the_kernel_wants():
    energies = quantised.energies()
    a, of_a = lab.puzzle("13_quantise").solution()(energies)
    b, of_b = quantised.in_blocks(quantised.weights(energies))
    assert of_a.shape == (8, 128) and of_b.shape == (1, 8)
    d = lab.kernel("hopper_fp8/04_block_scales").gemm(a, b, scale_a=of_a, scale_b=of_b)
    assert sums.error(d, energies.astype(np.float64) @ quantised.weights(energies).astype(np.float64)) < 0.04


def test_a_matrix_of_zeros_has_scales_of_one():
    assert np.array_equal(quantised.scales(np.zeros((2, 256), np.float32), "block"), np.ones((2, 256), np.float32))


# ---- What was recorded ----


def test_products_with_the_same_sums_have_the_same_bits():
    same = {
        "01_fast_sums": "cublaslt_fp8_fast",
        "02_promoted": "cublaslt_fp8",
        "04_block_scales": "cublaslt_fp8_blocks",
    }
    rows = read_rows(data_dir("results") / "hopper_fp8" / "h200_bits.csv")
    assert {(row["n"], row["input"]) for row in rows} >= {(n, "N(0, 1)") for n in ("2048", "4096", "8192", "16384")}
    for row in rows:
        share = int(row["different"]) / int(row["elements"])
        assert share == 0 if same[row["kernel"]] == row["source"] else 0.18 < share < 0.5, row
    assert "131,189,044" in str(recorded.bits())


def test_the_tensor_cores_hardly_wait_for_promotions():
    rows = read_rows(data_dir("results") / "hopper_fp8" / "h200_counters.csv")
    busy = {row["kernel"]: int(row["tensor_cycles"]) / int(row["cycles"]) for row in rows}
    assert busy["01_fast_sums_wide"] > 0.98 and 0.95 < busy["02_promoted"] < 0.96 and busy["03_in_turns"] < 0.9
    assert "95.7%" in str(recorded.counters())


def test_what_the_notebook_says_about_speeds():
    def shares(sums, than):
        return [float(share) for row in recorded.prices(sums, than).table.rows for share in row[1:]]

    assert all(0.93 < share < 0.985 for share in shares("promoted", "fast"))
    assert all(0.915 < share < 1 for share in shares("promoted, block scales", "promoted"))
    for n in (2048, 4096, 8192, 16384):
        for regime in recorded.REGIMES:
            rows = [recorded.best(f"hopper_fp8/04_block_scales{tall}", n, regime, "h200") for tall in ("", "_tall")]
            assert max(row.ratio_cublaslt for row in rows) > 1
    assert recorded.speeds(2048).table.rows and "cublaslt_fp8_blocks" in str(recorded.speeds(8192))
    fast, wide = (
        recorded.best(f"hopper_fp8/{name}", 4096, "burst", "h200").tflops
        for name in ("03_two_accumulators", "02_promoted")
    )
    assert fast > wide


def test_a_multiply_add_takes_more_issue_slots_than_an_addition():
    """Of the samples of an instruction, in how many its warp waited for nothing but its own issue, each issue."""
    slots = {
        row["kernel"]: (int(row["samples"]) - int(row["waiting_for_other_warps"])) / int(row["issued"])
        for row in read_rows(data_dir("results") / "hopper_fp8" / "h200_issue_slots.csv")
    }
    assert f"{slots['02_promoted']:.1f} {slots['04_block_scales_tall']:.1f}" == "1.9 2.5"
    assert f"{slots['04_block_scales_tall with reuse flags']:.1f}" == "1.7"


def test_what_each_idea_of_the_ladder_is_worth_at_8192():
    def left_out(idea):
        rows = [row for row in all_rows if row.ladder == "hopper_fp8" and f" without {idea}" in row.kernel]
        return {row.regime: row.tflops / whole[(row.kernel.split()[0], row.regime)] for row in rows}

    all_rows = read(data_dir("results") / "ablations" / "h200.csv")
    whole = {(row.kernel, row.regime): row.tflops for row in all_rows}
    second, third = left_out("a second accumulator"), left_out("a third warpgroup")
    assert 0.95 < second["burst"] < 0.965 and 0.935 < second["sustained"] < 0.945
    others = left_out("scales fetched"), left_out("the wait for the next tile")
    assert all(third[regime] < other[regime] < 1 for regime in third for other in others)


def test_a_selection_for_each_sum_costs_a_quarter():
    as_it_is, selected = (
        (float(row["sustained_tflops"]), float(row["burst_tflops"]))
        for row in read_rows(data_dir("results") / "hopper_fp8" / "h200_variants.csv")
    )
    assert all(0.7 < slow / fast < 0.82 for slow, fast in zip(selected, as_it_is, strict=True))


# ---- Pictures ----


def test_formats_are_those_of_ml_dtypes():
    from tools.figures.number_formats import SMALL

    known = {"BF16": "bfloat16", "E5M2": "float8_e5m2", "E4M3": "float8_e4m3fn", "E2M1": "float4_e2m1fn"}
    for form in SMALL:
        info = ml_dtypes.finfo(getattr(ml_dtypes, known[form.name]))
        assert (form.largest, 1 + form.exponent + form.fraction) == (float(info.max), info.bits)
        assert form.whole == round(2 / float(info.eps))


def test_the_window_of_the_picture_is_that_of_the_rule():
    from tools.figures.kept_bits import ADDENDS, window

    _, low = window(ADDENDS)
    for _, bits in ADDENDS[1:]:
        kept = sum(2.0**bit for bit in bits if bit >= low)
        assert after(16384, (1, sum(2.0**bit for bit in bits), 1)) == 16384 + kept


def test_scales_lie_where_the_puzzle_says():
    from tools.figures.scale_tile import COLUMNS, ROWS, place

    places = {(row, column): place(row, column) for row in range(ROWS) for column in range(COLUMNS)}
    scale_byte = lab.puzzle("13_scale_byte").solution()
    assert sorted(places.values()) == list(range(512))
    assert all(scale_byte(*where, COLUMNS) == byte for where, byte in places.items())


def test_the_cycles_of_products_are_twice_as_few_as_in_bf16():
    from tools.figures.promotions import RATE, cycles

    chip = gpu("h100")
    in_bf16 = chip.peak("bf16", "f32") * 1e12 / 2 / chip.sms / (chip.boost_mhz * 1e6)
    assert cycles() == (384, 96) and 2 ** round(np.log2(2 * in_bf16)) == RATE  # the data sheet has a lower clock
