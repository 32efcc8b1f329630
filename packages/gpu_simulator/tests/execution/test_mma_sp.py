"""mma.sp: every shape, type and selector against a dense product, and metadata that mean nothing."""

from dataclasses import replace

import compiling
import numpy as np
import pytest
from sparse_products import FORMS, Sparse, d_of, operands, place_of_metadata, source

import gpu_simulator
from gpu_simulator import UnsupportedInstruction, WarpFault
from gpu_simulator.hardware.sparse_metadata import holders, selectors

HALF = Sparse(16, "f16", "f16", "f32")


def run(form: Sparse, given, change=lambda ptx: ptx, arch="", **options) -> np.ndarray:
    """The words of D, (32, registers). change: edits the PTX."""
    arch = arch or ("sm_89" if form.a.startswith("e") else "sm_80")
    compiled = compiling.compile(source(form), arch=arch, name="kernel.cu", entry="kernel")
    out = np.full(given.c.shape, 0x7FC07FC0, np.uint32)
    args = [given.a, given.b, given.c, given.metadata, out]
    gpu_simulator.launch(change(compiled.ptx), "kernel", 1, 32, args, **options)
    return out


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_whole_numbers_are_exact(form):
    given = operands(form)
    assert np.array_equal(d_of(form, run(form, given)), given.want)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("form", [form for form in FORMS if form.c != "s32"], ids=str)
def test_normal_numbers(form):
    given = operands(form, "normal", seed=3)
    error = np.abs(d_of(form, run(form, given, exact=False)) - given.want)  # FP8 is exact by default, of 13 bits
    assert (error <= (2.0**-9 * np.abs(given.want) + 2.0**-8 if form.c == "f16" else 33 * 32 * 2.0**-22)).all()


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("form", [HALF, Sparse(64, "e4m3", "e5m2", "f32"), Sparse(64, "s8", "u8", "s32")], ids=str)
def test_other_gpus(form, arch):
    given = operands(form)
    assert np.array_equal(d_of(form, run(form, given, arch=arch)), given.want)


@pytest.mark.parametrize("form", [HALF, Sparse(16, "tf32", "tf32", "f32")], ids=str)
def test_rows_of_b_that_are_not_chosen_have_no_influence(form):
    given = operands(form, unused=np.nan)
    assert np.array_equal(d_of(form, run(form, given)), given.want)


def test_each_of_several_warps_has_its_own_product():
    given, other = operands(HALF), operands(HALF, seed=1)
    both = [np.concatenate(pair) for pair in ((given.a, other.a), (given.b, other.b), (given.c, other.c))]
    out = np.zeros((64, 4), np.uint32)
    compiled = compiling.compile(source(HALF), arch="sm_80", name="kernel.cu", entry="kernel")
    metadata = np.concatenate([given.metadata, other.metadata])
    gpu_simulator.launch(compiled, "kernel", 1, 64, [*both, metadata, out])
    assert np.array_equal(d_of(HALF, out[:32]), given.want) and np.array_equal(d_of(HALF, out[32:]), other.want)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_table_of_metadata_is_that_of_the_isa(form):
    lane, bit = holders(form.bits, form.k, form.selector)
    for row in range(16):
        for chunk in range(form.k // form.each):
            assert (lane[row, chunk], bit[row, chunk]) == place_of_metadata(form, row, chunk)


# ---- Metadata without a meaning ----


@pytest.mark.parametrize(
    ("form", "row", "chunk", "four", "words"),
    [
        (
            HALF,
            0,
            0,
            0b0000,
            r"thread \(0, 0, 0\) gives the metadata 0x.*0, in which the bits 0 to 3 are 0b0000 for chunk 0",
        ),
        (HALF, 9, 2, 0b1010, r"thread \(4, 0, 0\) .* the bits 24 to 27 are 0b1010 for chunk 2 of row 9 of A"),
        (HALF, 3, 1, 0b0001, r"0b0001 .* undefined; 0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110 have a meaning"),
        (replace(HALF, ordered=False), 3, 1, 0b1111, "0b1111 for chunk 1 of row 3"),
        (Sparse(64, "s8", "s8", "s32"), 8, 15, 0b0101, r"thread \(3, 0, 0\) .* the bits 28 to 31"),
        (Sparse(64, "e4m3", "e4m3", "f32", False), 0, 0, 0b0001, "0b0001 for chunk 0"),
        (
            Sparse(8, "tf32", "tf32", "f32", True, 2),
            0,
            3,
            0b1000,
            r"thread \(2, 0, 0\) .*; 0b0100, 0b1110 have a meaning",
        ),
    ],
)
def test_metadata_that_mean_nothing(form, row, chunk, four, words):
    given = operands(form)
    lane, bit = place_of_metadata(form, row, chunk)
    given.metadata[lane] = int(given.metadata[lane]) & ~(15 << bit) | four << bit
    with pytest.raises(WarpFault, match=words):
        run(form, given)


def test_either_order_of_two_indices_is_possible_without_ordered_metadata():
    form = replace(HALF, ordered=False)
    given = operands(form, seed=2)
    fours = {int(given.metadata[4 * group]) >> 4 * n & 15 for group in range(8) for n in range(8)}
    assert any(four & 3 > four >> 2 for four in fours) and any(four & 3 < four >> 2 for four in fours)
    assert np.array_equal(d_of(form, run(form, given)), given.want)


def test_the_selector_says_whose_metadata_count():
    given = operands(replace(HALF, selector=1))
    with pytest.raises(WarpFault, match=r"thread \(0, 0, 0\) gives the metadata 0x00000000"):
        run(HALF, given)


def test_what_is_not_executed_needs_no_metadata():
    given = operands(HALF)
    given.metadata[:] = 0

    def never(ptx):
        return ptx.replace("mma.sp", "{ .reg .pred q; setp.ne.b32 q, 0, 0; @q mma.sp").replace(", 0x0;", ", 0x0; }")

    run(HALF, given, never)


# ---- Forms that are refused ----


@pytest.mark.parametrize(
    ("form", "selector", "words"),
    [
        (HALF, 4, "its sparsity selector is 4, and must be 0 or 1 or 2 or 3, .* from one thread of each four"),
        (Sparse(32, "f16", "f16", "f16"), 2, "must be 0 or 1, because here the metadata come from two threads"),
        (Sparse(32, "s8", "s8", "s32"), 3, "must be 0 or 1"),
        (Sparse(64, "u8", "u8", "s32"), 1, "is 1, and must be 0, because here the metadata come from all threads"),
    ],
)
def test_a_selector_that_the_shape_does_not_have(form, selector, words):
    assert selector >= selectors(form.bits, form.k)
    with pytest.raises(UnsupportedInstruction, match=words):
        run(form, operands(form), lambda ptx: ptx.replace(", 0x0;", f", {selector:#x};"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("m16n8k16", "m16n8k64"),
        (".f32.f16.f16.f32", ".f32.f16.bf16.f32"),
        (".row.col", ".col.row"),
        ("::ordered_metadata", "::other"),
        (".row.col.", ".row.col.satfinite."),
        (".row.col.", ".row.col.kind::f8f6f4."),
    ],
)
def test_other_forms_are_refused(old, new):
    with pytest.raises(UnsupportedInstruction, match="this shape, these types or these modifiers; m16n8k16"):
        run(HALF, operands(HALF), lambda ptx: ptx.replace(old, new))


def test_registers_that_are_too_few():
    with pytest.raises(UnsupportedInstruction, match="it names 2 registers where A has 4"):
        run(HALF, operands(HALF), lambda ptx: ptx.replace("m16n8k16", "m16n8k32"))
