"""Scalar video instructions, fns and other rare forms, by PTX's text; and what no text or recording says is refused."""

import subprocess
import sys

import numpy as np
import ptx_text
import pytest

from gpu_simulator import UnsupportedInstruction


def run(opcode):
    word = np.zeros(32, np.uint32)
    return ptx_text.run(f"mov.u32 %r2, 5; mov.u32 %r3, 7; {opcode} %r1, %r2, %r3, %r2;", word, word, word)


@pytest.mark.parametrize("types", ["s32.u32.u32", "u32.u32.s32", "u32.s32.u32", "s32.s32.u32"])
@pytest.mark.parametrize("family", ["vadd4", "vsub4", "vmin4", "vmax4", "vavrg4", "vabsdiff4", "vabsdiff2"])
def test_types_that_disagree_are_refused(family, types):
    with pytest.raises(UnsupportedInstruction, match=family):
        run(f"{family}.{types}")


@pytest.mark.parametrize("opcode", ["vabsdiff4.u32.s32.s32", "vabsdiff4.s32.s32.s32.add", "vmin4.s32.s32.s32"])
def test_types_that_were_recorded_run(opcode):
    run(opcode)


def test_the_first_sum_of_a_process_is_that_of_a_kernel():
    """Generated code has no `__import__`, with which NumPy loads what its first sum needs."""
    body = "mov.u32 %r2, 5; vadd4.u32.u32.u32.add %r1, %r2, %r2, %r2;"
    script = f"import sys; sys.path[:0] = {sys.path!r}; import ptx_text; ptx_text.run({body!r}, None, None, None)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_a_distance_that_is_added_has_the_type_of_its_sources():
    with pytest.raises(UnsupportedInstruction, match="another type than its sources"):
        run("vabsdiff4.u32.s32.s32.add")


def one(body):
    """The word that PTX instructions leave in %r1; %r2, %r3 and %r4 are theirs to set."""
    out = np.zeros(32, np.uint32)
    ptx_text.run(f"{body} {ptx_text.at('%d', '%t', 4, '%q1')} st.global.b32 [%q1], %r1;", None, None, out)
    assert (out == out[0]).all()
    return int(out.view(np.int32)[0])


@pytest.mark.parametrize(
    ("a", "b", "opcode", "due"),
    [  # the first four were seen on an H200
        (0x7FFFFFFF, 1, "vadd.s32.s32.s32.sat %r1, %r2, %r3", 2**31 - 1),
        (0xAA00, 0x50000, "vadd.u32.u32.u32 %r1, %r2.b1, %r3.h1", 175),
        (-3, 4, "vmad.s32.s32.s32 %r1, %r2, %r3, 5", -7),
        (0xC0400000, 0x40000000, "max.xorsign.abs.f32 %f1, %f2, %f3; mov.b32 %r1, %f1", -0x3FC00000),  # -3
        (0x7FFFFFFF, 1, "vadd.s32.s32.s32 %r1, %r2, %r3", -(2**31)),
        (5, 7, "vsub.u32.u32.u32.sat %r1, %r2, %r3", 0),
        (5, 7, "vsub.s32.u32.u32 %r1, %r2, %r3", -2),
        (0x80, 1, "vmin.s32.s32.u32 %r1, %r2.b0, %r3", -128),
        (0x80, 1, "vmax.s32.u32.u32 %r1, %r2.b0, %r3", 128),
        (0xFFFF8000, 3, "vmad.s32.s32.u32 %r1, %r2.h0, %r3, 1", -3 * 2**15 + 1),
        (0x40000000, 0x40000000, "min.xorsign.abs.f32 %f1, %f2, %f3; mov.b32 %r1, %f1", 0x40000000),
        (0x7FFFFFFF, 0x7FFFFFFF, "mad.hi.sat.s32 %r1, %r2, %r3, 0x7fffffff", 2**31 - 1),
        (-(2**31), 0x7FFFFFFF, "mad.hi.sat.s32 %r1, %r2, %r3, -2147483648", -(2**31)),
        (0x0001FFFF, 0xFFFF0001, "vabsdiff2.u32.u32.u32.add %r1, %r2, %r3, 7", 2 * 0xFFFE + 7),  # __vsadu2
        (0x0001FFFF, 0xFFFF0001, "vabsdiff2.u32.u32.u32 %r1, %r2, %r3, 7", -0x10002),  # 0xFFFEFFFE
        (0x0001FFFF, 0xFFFF0001, "vabsdiff2.s32.s32.s32.add %r1, %r2, %r3, 7", 2 + 2 + 7),
        (-8, 1 << 30, "mad.hi.sat.s32 %r1, %r2, %r3, 5", 3),
    ],
)
def test_scalar_forms(a, b, opcode, due):
    assert one(f"mov.b32 %r2, {a}; mov.b32 %r3, {b}; mov.b32 %f2, %r2; mov.b32 %f3, %r3; {opcode};") == due


@pytest.mark.parametrize(
    "opcode",
    ["vadd.s32.s32.s32.add %r1, %r2, %r2, %r2", "vadd.s32.s32.s32 %r1.b0, %r2, %r2, %r2", "vmad.s32.s32.s32.sat %r1, "
     "%r2, %r2, %r2", "vset.s32.s32.lt %r1, %r2, %r2", "max.abs.f32 %f1, %f2, %f2, %f2"],
)  # fmt: skip
def test_other_forms_are_refused(opcode):
    with pytest.raises(UnsupportedInstruction, match=opcode.split()[0]):
        one(f"mov.b32 %r2, 5; mov.f32 %f2, 0f3F800000; {opcode};")


def test_the_nth_set_bit():
    def by_the_text(mask, base, offset):
        places = range(base, 32) if offset > 0 else range(base, -1, -1)
        found = [n for n in places if mask >> n & 1]
        if offset == 0:
            found, offset = [n for n in found if n == base], 1
        return found[abs(offset) - 1] if len(found) >= abs(offset) else -1

    for mask in (0b101101, 0xAAAAAAAA, 0, 2**32 - 1):
        for base, offset in ((0, 3), (3, 1), (3, -1), (2, 1), (2, -1), (31, -5), (0, 0), (1, 0), (0, 33)):
            assert one(f"fns.b32 %r1, {mask}, {base}, {offset};") == by_the_text(mask, base, offset)
