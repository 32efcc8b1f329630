"""Inputs in which each element of D is one product: exact, at the ends of the range, with the answer's own constants."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.measure.inputs import reference, rounded
from gemm_lab.notebook.exercises import exercises
from gemm_lab_classroom.judge.edge_values import large_scale, named_numbers, near_the_top, with_named_numbers
from gemm_lab_classroom.judge.float_addresses import address_in_floats
from gpu_simulator.hardware.number_types import dtype_of

OF_8_BITS = {"hopper_fp8/01_fast_sums", "hopper_fp8/02_promoted", "hopper_fp8/04_block_scales"}
KERNELS = sorted(OF_8_BITS | {task.criteria["kernel"] for task in exercises().values() if task.judge == "kernel"})
SIZE = (64, 96, 80)


@pytest.mark.parametrize("operand", "ab")
@pytest.mark.parametrize("name", KERNELS)
def test_near_the_top_twice_the_product_overflows_and_the_result_does_not(name, operand):
    inputs = near_the_top(lab.kernel(name).problem, *SIZE, 3, operand)
    result = rounded(reference(inputs), inputs.problem)
    assert np.isfinite(result).all() and (result != 0).all()
    sums = result / inputs.alpha
    most = min(_largest(kind) for kind in (inputs.problem.dtype_acc, inputs.problem.dtype_out))
    assert 2 * np.abs(sums).max() > most or 4 * np.abs(inputs.wide()["ab".index(operand)]).max() > _largest(
        inputs.problem.multiplied
    )


@pytest.mark.parametrize("operand", "ab")
@pytest.mark.parametrize("name", KERNELS)
def test_near_the_top_an_operand_that_loses_its_last_bit_changes_the_result(name, operand):
    inputs = near_the_top(lab.kernel(name).problem, *SIZE, 3, operand)
    cut = getattr(inputs, operand).astype(dtype_of(inputs.problem.multiplied))
    words = cut.view(f"u{cut.itemsize}")
    words &= words.dtype.type(~np.uint64(1) & np.uint64(2 ** (8 * cut.itemsize) - 1))
    careless = replace(inputs, **{operand: cut.astype(getattr(inputs, operand).dtype)})
    results = (rounded(reference(one), inputs.problem) for one in (inputs, careless))
    assert (next(results) != next(results)).mean() > 0.15


def _largest(kind: str) -> float:
    return float(ml_dtypes.finfo(dtype_of(kind)).max)


@pytest.mark.parametrize("large", ["alpha", "beta"])
@pytest.mark.parametrize("name", [name for name in KERNELS if lab.kernel(name).problem.uses_c])
def test_a_large_scale_brings_tiny_numbers_back(name, large):
    inputs = large_scale(lab.kernel(name).problem, *SIZE, 3, large)
    result = rounded(reference(inputs), inputs.problem)
    assert set(np.unique(result)) <= {64.0 * whole for whole in range(-8, 9)} and np.abs(result).max() == 512


def test_the_constants_of_an_answer_are_found():
    own = ".reg .b32 %r<5>;\nadd.s32 %r1, %r2, 32767;\nmov.f32 %f1, 0f3F800000;\n"
    more = own + "xor.b32 %r3, %r1, 0x449a5000; // 77\nadd.s32 %r1, %r1, -5;\nmov.f32 %f2, 0f40490FDB;\n.loc 1 1234 5\n"
    assert named_numbers(more, own).tolist() == sorted([0x449A5000, 0xFFFFFFFB, 0x40490FDB])
    assert not len(named_numbers(own, own))


@pytest.mark.parametrize("operand", "ab")
@pytest.mark.parametrize("name", [name for name in KERNELS if not lab.kernel(name).problem.scaled])
def test_constants_become_values_that_come_back_exactly(name, operand):
    problem, numbers = lab.kernel(name).problem, np.array([0x449A5000, 0x3C003C00, 7], np.uint32)
    inputs = with_named_numbers(problem, *SIZE, 3, operand, numbers)
    assert inputs is not None
    result = rounded(reference(inputs), problem)
    assert np.isfinite(result).all()
    a, b = inputs.wide()
    held = set((a if operand == "a" else b).ravel().tolist())
    assert set(result.ravel().tolist()) <= {float(np.float32(x).astype(dtype_of(problem.dtype_out))) for x in held}


@pytest.mark.parametrize("name", KERNELS)
def test_no_rung_computes_an_address_in_floats(name):
    assert address_in_floats(lab.kernel(name).compile_as_taught()) == ""
