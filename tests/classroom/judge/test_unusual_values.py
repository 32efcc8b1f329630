"""The values of the judge's last check: unusual, and with a result that is known to the bit."""

from dataclasses import replace
from itertools import product

import ml_dtypes
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.measure.inputs import exact_bits, reference, rounded
from gemm_lab.notebook.exercises import exercises
from gemm_lab_classroom.judge.special_launches import special_inputs, with_old_values
from gemm_lab_classroom.judge.unusual_values import (
    LARGE,
    SMALLER,
    extreme_c,
    infinite_lines,
    spread,
    unusual_inputs,
    without_a_term,
    zeros_against_infinities,
)
from gpu_simulator.hardware.number_types import dtype_of

OF_8_BITS = {"hopper_fp8/01_fast_sums", "hopper_fp8/02_promoted", "hopper_fp8/04_block_scales"}
KERNELS = sorted(OF_8_BITS | {task.criteria["kernel"] for task in exercises().values() if task.judge == "kernel"})
SIZE = (129, 130, 200)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_exact_result_is_known(name, seed):
    problem = lab.kernel(name).problem
    inputs = unusual_inputs(problem, *SIZE, seed)
    with np.errstate(invalid="ignore"):  # a signalling NaN is converted
        a, b = inputs.wide()
    assert not (a == 0).any() and not (b == 0).any(), "zero times infinity is NaN in whichever order"
    endless = problem.multiplied != "e4m3"  # its largest exponent has numbers, and no infinity
    assert np.isinf(a).any() == endless and np.isnan(a).any() and np.isnan(b).any()
    with np.errstate(invalid="ignore"):
        stored = inputs.a.astype(np.float32)
    assert (stored == min(LARGE[problem.dtype_acc], float(ml_dtypes.finfo(inputs.a.dtype).max))).any()
    finite = np.isfinite(a).all(1)
    assert 0.1 < finite.mean() < (0.9 if endless else 0.95)
    columns = np.isfinite(b).all(0)
    with np.errstate(invalid="ignore"):
        result = reference(inputs)
    assert np.isfinite(result[finite][:, columns]).all()
    rows = a[finite].astype(np.float64)
    partial = np.cumsum(rows[:4, None, :] * b[:, columns].astype(np.float64).T[None], axis=2)
    most = 2 ** exact_bits(replace(problem, promotion=0))
    assert np.abs(partial).max() <= most
    if inputs.c is not None:  # the epilogue rounds once: in float32 each step is exact
        sums = (rows @ b[:, columns].astype(np.float64)).astype(np.float32)
        c = inputs.c.astype(np.float32)[finite][:, columns]
        found = np.float32(inputs.alpha) * sums + np.float32(inputs.beta) * c
        assert (found.astype(np.float64) == result[finite][:, columns]).all()
        assert inputs.alpha % 1 and inputs.beta % 1
    again = unusual_inputs(problem, *SIZE, seed)
    assert all(np.array_equal(getattr(again, n), getattr(inputs, n), equal_nan=True) for n in "ab")


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("tiny", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_powers_of_two_reach_both_ends_and_change_no_product(name, tiny):
    problem = lab.kernel(name).problem
    before = unusual_inputs(problem, *SIZE, 4)
    after = spread(before, 4, tiny)
    smaller, info = SMALLER[problem.multiplied][tiny], ml_dtypes.finfo(dtype_of(problem.multiplied))
    with np.errstate(invalid="ignore"):
        (a, b), (old_a, old_b) = ([x.astype(np.float64) for x in inputs.wide()] for inputs in (after, before))
        products = a[:5, :, None] * b[None, :, :5]
        assert np.array_equal(products, old_a[:5, :, None] * old_b[None, :, :5] / 2.0**smaller, equal_nan=True)
        old, new = reference(before), reference(after)
        assert np.array_equal(new, old / 2.0**smaller, equal_nan=True)
    for array in (a, b):
        sizes = np.abs(array[np.isfinite(array)])
        assert 0 < sizes.min() < float(info.smallest_normal)
        assert tiny or sizes.max() >= float(info.max) / 8
    if tiny:
        results = np.abs(new[np.isfinite(new) & (new != 0)])
        assert np.mean(results < float(info.smallest_normal) * 2) > 0.3


def test_a_nan_has_every_sign_and_payload():
    problem = lab.kernel("wmma/unroll_bf16").problem
    inputs = spread(unusual_inputs(problem, 128, 128, 64, 7), 7)
    bits = {int(word) for word in inputs.a.view(np.uint32)[np.isnan(inputs.a)]}
    assert bits == {sign | payload for sign in (0, 1 << 31) for payload in (0x7FFFFFFF, 0x7F800001, 0x7FC00000)}


@pytest.mark.parametrize("large", ["alpha", "beta"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", [1, 2, 7])
def test_extreme_c_reaches_the_largest_results_and_stays_exact(large, sign, seed):
    problem = lab.kernel("t4/07_staged_epilogue").problem
    inputs = extreme_c(unusual_inputs(problem, 256, 128, 64, seed), seed, large, sign)
    assert sign * getattr(inputs, large) >= 12
    with np.errstate(invalid="ignore", over="ignore"):
        c, exact = inputs.c.astype(np.float32), reference(inputs)
        found = rounded(exact, problem)
        sums = reference(replace(inputs, alpha=1.0, beta=0.0, c=np.zeros_like(inputs.c))).astype(np.float32)
        computed = np.float32(inputs.alpha) * sums + np.float32(inputs.beta) * c
        fits = np.abs(exact) < 2.0**17
    assert np.array_equal(computed[fits], exact[fits].astype(np.float32)) and fits.any()
    assert np.array_equal(exact[fits].astype(np.float32), exact[fits])
    assert np.isnan(c).any() and (c == np.inf).any() and (c == -np.inf).any() and (np.abs(c) == 65504).any()
    assert (found == 65504).any() and (found == -65504).any()
    assert (np.abs(found[np.isfinite(found)]) > 60000).mean() > 0.05
    finite = np.isfinite(sums) & np.isfinite(c)
    assert np.isinf(found[finite]).any(), "some results overflow the output type"


@pytest.mark.parametrize("name", ["simt/04_register_tiles", "ampere/11_any_size"])
def test_infinite_lines_give_infinity_and_a_leftover_gives_nan(name):
    inputs = infinite_lines(lab.kernel(name).problem, 20, 30, 72, 3)
    with np.errstate(invalid="ignore"):
        result = reference(inputs)
    a, b = inputs.wide()
    assert not np.isnan(result).any() and (a > 0).all() and (b > 0).all()
    rows, columns = np.isinf(a).all(1), np.isinf(b).all(0)
    assert rows.sum() == columns.sum() == 1
    assert (np.isinf(result) == rows[:, None] | columns[None]).all()
    with np.errstate(invalid="ignore"):
        assert np.isnan(a[rows] @ np.zeros_like(b)).all() and np.isnan(np.zeros_like(a) @ b[:, columns]).all()


@pytest.mark.parametrize("operand", ["a", "b"])
@pytest.mark.parametrize("name", KERNELS)
def test_zeros_of_each_matrix_meet_infinities_and_nan_of_the_other(name, operand):
    inputs = zeros_against_infinities(lab.kernel(name).problem, 32, 64, 64, 3, operand)
    a, b = (array.astype(np.float64) for array in inputs.wide())
    with np.errstate(invalid="ignore"):
        exact, products = reference(inputs), a[:, :, None] * b[None]
        skipped = {"a": np.where(a[:, :, None] == 0, 0, products), "b": np.where(b[None] == 0, 0, products)}
        if inputs.c is None:
            assert np.array_equal(products.sum(1), exact, equal_nan=True)
        for left_out in skipped.values():
            assert (np.isnan(products.sum(1)) & ~np.isnan(left_out.sum(1))).any(), "leaving out zeros changes a result"
        tail = skipped[operand][:, 32:]
    zero, other = (a[:, 32:], b[32:]) if operand == "a" else (b[32:], a[:, 32:])
    assert not zero.any() and not np.isfinite(other).all() and not tail.any(), "whole tiles of zeros"
    assert 0.2 < np.isfinite(exact).mean() < 0.9


def test_special_values_come_at_every_size_and_over_old_finite_numbers():
    answer = lab.kernel("t4/07_staged_epilogue")
    sizes = [(256, 256, 64), (256, 256, 2048), (512, 256, 32)]
    every = [inputs for inputs, _ in special_inputs(answer, sizes, 5)]
    assert [(inputs.m, inputs.n, inputs.k) for inputs in every[:3]] == sizes
    assert {scale for inputs in every for scale in ("alpha", "beta") if not getattr(inputs, scale)} == {"alpha", "beta"}
    apart = [inputs for inputs in every if 2048.0 in (inputs.alpha, inputs.beta)]
    assert len(apart) == 2
    for inputs in apart:
        lost = np.float32(inputs.alpha) + np.float32(inputs.beta) - np.float32(max(inputs.alpha, inputs.beta))
        assert lost != min(inputs.alpha, inputs.beta)
        exact = reference(inputs)
        assert np.array_equal(
            rounded(exact.astype(np.float32).astype(np.float64), inputs.problem), rounded(exact, inputs.problem)
        )
        careless = {"alpha": lost} if inputs.alpha < 1 else {"beta": lost}
        assert (
            rounded(reference(replace(inputs, **careless)), inputs.problem) != rounded(exact, inputs.problem)
        ).mean() > 0.3
    every = [inputs for inputs in every if 2048.0 not in (inputs.alpha, inputs.beta)]
    plain = [inputs for inputs in every if not (inputs.alpha and inputs.beta)]
    assert all(
        np.isfinite(inputs.a).all() and np.isfinite(inputs.b).all() and np.isfinite(inputs.c).all() for inputs in plain
    )
    every = [inputs for inputs in every if inputs.alpha and inputs.beta]
    assert all(np.isinf(inputs.a).any() and np.isnan(inputs.a).any() for inputs in every)
    assert {(abs(inputs.alpha) > 8, abs(inputs.beta) > 8) for inputs in every} == {(0, 0), (0, 1), (1, 0)}
    assert max(abs(inputs.alpha) for inputs in every) >= 1000 <= max(abs(inputs.beta) for inputs in every)
    old = with_old_values(every[0], 1).d
    assert np.isfinite(old).all() and (old == 0).any() and (old != 0).any()


def bits_of(number: float, count: int) -> float:
    """The number with the first `count` bits of its significand."""
    word = np.float32(number).view(np.uint32) & np.uint32(0xFFFFFFFF << (24 - count) & 0xFFFFFFFF)
    return float(word.view(np.float32))


@pytest.mark.parametrize("left_out", ["alpha", "beta"])
@pytest.mark.parametrize("seed", [1, 2, 7])
def test_a_scale_that_is_cut_to_fewer_bits_changes_many_results(left_out, seed):
    problem, other = lab.kernel("t4/07_staged_epilogue").problem, {"alpha": "beta", "beta": "alpha"}[left_out]
    inputs = without_a_term(problem, 256, 256, 64, seed, left_out)
    exact, scale = rounded(reference(inputs), problem), getattr(inputs, other)
    assert getattr(inputs, left_out) == 0 and bits_of(scale, 24) == scale != bits_of(scale, 16)
    for bits, share in ((10, 0.1), (12, 0.02), (16, 0.001)):
        cut = rounded(reference(replace(inputs, **{other: bits_of(scale, bits)})), problem)
        assert (cut != exact).mean() > share


@pytest.mark.parametrize("name", ["simt/01_naive", "t4/07_staged_epilogue"])
def test_the_smallest_sizes_have_values_too(name):
    problem = lab.kernel(name).problem
    for size in product((1, 2, 3), repeat=3):
        plain = unusual_inputs(problem, *size, 5)
        for tiny in (False, True):
            inputs = spread(plain, 5, tiny)
            assert np.array_equal(np.isfinite(inputs.a), np.isfinite(plain.a)) and inputs.a.shape == plain.a.shape
