"""Kernels that round FP32 inputs before they multiply: judged against the product of the rounded matrices."""

import numpy as np
import pytest

from gemm_lab.measure.bounds import bound, element_limits
from gemm_lab.measure.check import verdict, wire_problem
from gemm_lab.measure.inputs import make_inputs, reference
from gemm_lab.problem import Problem
from gpu_simulator.hardware.number_types import dtype_of

ARGUMENTS = ("a", "b", "d", "m", "n", "k")
M, N, K = 64, 96, 256


def problem(compute):
    return Problem("D = AB", "f32", "f32", "f32", "row", "row", ARGUMENTS, compute)


def product(inputs, change):
    return change(inputs.a) @ change(inputs.b)


def nearest(dtype):
    return lambda x: x.astype(dtype_of(dtype)).astype(np.float32)


def cut(x):
    return (x.view(np.uint32) & 0xFFFF0000).view(np.float32)


@pytest.mark.parametrize("compute", ["bf16", "f16"])
def test_the_inputs_are_f32_and_the_reference_multiplies_rounded_ones(compute):
    inputs = make_inputs(problem(compute), M, N, K, "normal")
    assert inputs.a.dtype == np.float32 and inputs.d.dtype == np.float32
    assert not np.array_equal(inputs.a, nearest(compute)(inputs.a))  # N(0, 1) of full precision
    assert np.allclose(reference(inputs), product(inputs, nearest(compute)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("compute", ["bf16", "f16"])
def test_rounding_to_nearest_passes_and_any_other_treatment_fails(compute):
    what = problem(compute)
    inputs = make_inputs(what, M, N, K, "normal")
    other = "f16" if compute == "bf16" else "bf16"

    def judged(change):
        return verdict(product(inputs, change), reference(inputs), "normal", what, K)

    assert judged(nearest(compute)).passed
    assert not judged(lambda x: x).passed  # never rounded: more exact, but not what is claimed
    assert not judged(nearest(other)).passed
    assert not judged(cut).passed


@pytest.mark.parametrize("compute", ["bf16", "f16", ""])
def test_integers_stay_exact(compute):
    inputs = make_inputs(problem(compute), M, N, K)
    exact = inputs.a.astype(np.int64) @ inputs.b.astype(np.int64)
    assert np.array_equal(reference(inputs), exact)
    out = exact.astype(np.float32)
    assert verdict(out, reference(inputs), "integers", problem(compute), K).passed
    out[3, 5] += 1
    assert not verdict(out, reference(inputs), "integers", problem(compute), K).passed


def test_the_bound_is_that_of_the_type_that_is_multiplied():
    half = Problem("D = AB", "bf16", "f32", "f32", "row", "row", ARGUMENTS)
    for measure in (bound, element_limits):
        assert measure(problem("bf16"), 4096) == measure(half, 4096) != measure(problem(""), 4096)
    assert wire_problem(problem("bf16"))["multiplied"] == "bf16" and wire_problem(problem(""))["multiplied"] == "f32"
