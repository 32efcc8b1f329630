"""The values of the judge's last check: unusual, and with a result that is known to the bit."""

import ml_dtypes
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.measure.inputs import reference
from gemm_lab.notebook.exercises import exercises
from gemm_lab.notebook.judges.unusual_values import LARGE, SMALLER, spread, unusual_inputs
from gpu_runner.transport.wire import dtype_of

KERNELS = sorted({task.criteria["kernel"] for task in exercises().values() if task.judge == "kernel"})
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
    assert np.isinf(a).any() and np.isnan(a).any() and np.isnan(b).any()
    assert (a == LARGE[problem.dtype_acc]).any()
    finite = np.isfinite(a).all(1)
    assert 0.1 < finite.mean() < 0.9
    columns = np.isfinite(b).all(0)
    with np.errstate(invalid="ignore"):
        result = reference(inputs)
    assert np.isfinite(result[finite][:, columns]).all()
    rows = a[finite].astype(np.float64)
    partial = np.cumsum(rows[:4, None, :] * b[:, columns].astype(np.float64).T[None], axis=2)
    most = 2**11 if problem.dtype_acc == "f16" else 2**24
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
        assert np.median(results) < float(info.smallest_normal) * 2


def test_a_nan_has_every_sign_and_payload():
    problem = lab.kernel("wmma/unroll_bf16").problem
    inputs = spread(unusual_inputs(problem, 128, 128, 64, 7), 7)
    bits = {int(word) for word in inputs.a.view(np.uint32)[np.isnan(inputs.a)]}
    assert bits == {sign | payload for sign in (0, 1 << 31) for payload in (0x7FFFFFFF, 0x7F800001, 0x7FC00000)}
