"""The check sees in which type a kernel adds: each problem of the catalogue with right and with narrower sums."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from gemm_lab import catalog
from gemm_lab.catalog import Problem
from gemm_lab.measure.bounds import bound
from gemm_lab.measure.check import make_inputs, reference, verdict
from gemm_lab.measure.inputs import integer_limit, large_products, rounded
from gpu_simulator.errors import SizeError

PLAIN = ("a", "b", "d", "m", "n", "k")
FP8 = Problem("D = AB", "e4m3", "f32", "bf16", "row", "col", PLAIN)
PROMOTED = replace(FP8, promotion=128)
SCALED = replace(PROMOTED, arguments=(*PLAIN, "scale_a", "scale_b"))
KINDS = ("cancelling", "integers", "normal")


def distinct() -> dict[str, Problem]:
    """Every problem of the catalogue that differs from others in what a check depends on, and those of 8 bits."""
    found = {}
    for spec in catalog.kernels().values():
        problem = spec.problem
        order = tuple(dict.fromkeys((*problem.arrays, "m", "n", "k", *(("alpha", "beta") if problem.uses_c else ()))))
        found.setdefault(replace(problem, formula="", arguments=order, tensor_maps=()), spec.name)
    return {name: problem for problem, name in found.items()} | {"fp8": FP8, "promoted": PROMOTED, "scaled": SCALED}


PROBLEMS = distinct()
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


def sums(inputs, keep, step=16, promotion=0):
    """A·B, added by `keep(acc, products)` over `step` of K at a time; with `promotion`, parts go to f32 sums."""
    promoted, scaled = np.zeros((inputs.m, inputs.n), np.float32), inputs.problem.scaled
    plain = replace(inputs, scale_a=None, scale_b=None).wide() if scaled else inputs.wide()
    a, b = (operand.astype(np.float64) for operand in plain)
    acc = np.zeros((inputs.m, inputs.n))
    for start in range(0, inputs.k, step):
        acc = keep(acc, a[:, start : start + step, None].transpose(0, 2, 1) * b[start : start + step].T[None])
        if promotion and (start + step) % promotion == 0:
            block = start // 128
            factor = (
                inputs.scale_a[block][:, None] * np.repeat(inputs.scale_b[:, block], 128)[: inputs.n] if scaled else 1
            )
            promoted, acc = (promoted + acc.astype(np.float32) * factor).astype(np.float32), np.zeros_like(acc)
    return promoted.astype(np.float64) + acc


def output(inputs, result):
    """What an epilogue makes of the sums."""
    result = inputs.alpha * result + (inputs.beta * inputs.c.astype(np.float64) if inputs.c is not None else 0.0)
    return rounded(result, inputs.problem)


def to_nearest(dtype):
    return lambda acc, products: (acc + products.sum(-1)).astype(np.float32).astype(dtype).astype(np.float64)


def cut(bits):
    """Hopper's rule: products and sum are cut off `bits` below the exponent of the largest, and the result too."""

    def at(values, unit):
        return np.trunc(values / unit) * unit

    def unit_of(largest):
        return np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))) - bits)

    def keep(acc, products):
        unit = unit_of(np.maximum(np.abs(acc), np.abs(products).max(-1)))
        total = at(acc, unit) + at(products, unit[..., None]).sum(-1)
        return at(total, unit_of(np.abs(total)))

    return keep


def right(problem):
    """(keep, step, promotion) of a kernel that keeps the promise of the ladder."""
    if problem.multiplied == "e4m3":
        return cut(13), 32, problem.promotion
    dtype = np.float16 if problem.dtype_acc == "f16" else np.float32
    return to_nearest(dtype), 1 if problem.multiplied == "f32" else 8, 0


NARROWER = {
    "f32": (to_nearest(np.float16), to_nearest(ml_dtypes.bfloat16), cut(13)),
    "f16": (to_nearest(ml_dtypes.bfloat16),),
}


@every_problem
def test_sums_of_the_promised_type_pass_and_narrower_ones_do_not(problem):
    k = 4 * problem.promotion or 128
    inputs = make_inputs(problem, 32, 48, k, "cancelling")
    ref = reference(inputs)
    keep, step, promotion = right(problem)
    found = verdict(output(inputs, sums(inputs, keep, step, promotion)), ref, "cancelling", problem, k)
    assert found, found.message
    wrong = [(keep, step, 0) for keep in NARROWER[problem.dtype_acc]]
    if problem.promotion:
        wrong.append((cut(13), 32, 2 * problem.promotion))  # promoted too late
    elif problem.multiplied == "e4m3":
        wrong.remove((NARROWER["f32"][2], step, 0))  # 13 bits are what it may have
    for narrow in wrong if not problem.scaled else wrong[-1:]:  # the others do not see the scales
        found = verdict(output(inputs, sums(inputs, *narrow)), ref, "cancelling", problem, k, inputs=inputs)
        assert not found and "before they cancel" in found.message


@every_problem
@pytest.mark.parametrize("kind", KINDS)
def test_zeros_and_one_element_off_fail(problem, kind):
    k = 512
    inputs = make_inputs(problem, 32, 48, k, kind, seed=3)
    ref = reference(inputs)
    exact = rounded(ref, problem)
    assert verdict(exact, ref, kind, problem, k)
    assert not verdict(np.zeros_like(exact), ref, kind, problem, k)
    for wrong in (0.0, exact[8, 9], 2 * exact[7, 11]):  # never written, another's, added twice
        off = exact.copy()
        off[7, 11] = wrong
        assert exact[7, 11] != wrong and not verdict(off, ref, kind, problem, k), wrong
    if kind != "normal":
        off = exact.copy()
        off[7, 11] += np.spacing(exact[7, 11].astype(np.float32)) if problem.dtype_out == "f32" else 1
        assert not verdict(off, ref, kind, problem, k)


@pytest.mark.parametrize("k", [1024, 4096])
def test_normal_inputs_tell_a_promoted_sum_from_13_bits(k):
    inputs = make_inputs(PROMOTED, 96, 96, k, "normal")
    ref = reference(inputs)
    kept, lost = (verdict(output(inputs, sums(inputs, cut(13), 32, p)), ref, "normal", PROMOTED, k) for p in (128, 0))
    assert kept, kept.message
    assert (not lost) or k < 4096
    plain = verdict(output(inputs, sums(inputs, cut(13), 32)), ref, "normal", FP8, k)
    assert plain and plain.error > kept.error and plain.bound == bound(FP8, k, 96 * 96) > kept.bound


def test_a_sum_of_13_bits_allows_smaller_numbers():
    assert [large_products(problem, 512) for problem in (FP8, PROMOTED, replace(FP8, dtype_acc="f16"))] == [
        (13, 1), (13, 2), (10, 1),
    ]  # fmt: skip
    assert large_products(PROMOTED, 384) == (13, 0), "no room for two parts at each end"
    assert integer_limit(FP8, 16384) == 4 and integer_limit(FP8, 2**20) < integer_limit(PROMOTED, 2**20)
    with pytest.raises(SizeError, match="normal inputs"):
        integer_limit(FP8, 2**24)


@pytest.mark.parametrize("kind", KINDS)
def test_scales_belong_to_blocks_of_128(kind):
    m, n, k = 40, 200, 300
    inputs = make_inputs(SCALED, m, n, k, kind)
    assert inputs.scale_a.shape == (3, m) and inputs.scale_b.shape == (2, 3)
    a, b = inputs.a.astype(np.float64), inputs.b.astype(np.float64)
    ref, at = reference(inputs), np.arange(k)
    for row, column in ((0, 0), (39, 127), (17, 128), (3, 199)):
        products = a[row] * inputs.scale_a[at // 128, row] * b[column] * inputs.scale_b[column // 128, at // 128]
        assert ref[row, column] == pytest.approx(products.sum(), rel=1e-5, abs=1e-5)
    if kind != "normal":
        assert set(np.unique(inputs.scale_a)) <= {0.5, 1.0, 2.0} and len(np.unique(inputs.scale_a)) == 3
        exact = rounded(ref, SCALED)
        unscaled = rounded(reference(replace(inputs, scale_a=None, scale_b=None)), SCALED)
        turned = rounded(reference(replace(inputs, scale_b=inputs.scale_b[::-1])), SCALED)
        for wrong in (unscaled, turned):
            assert not np.array_equal(wrong, exact) and not verdict(wrong, ref, kind, SCALED, k)
