"""Notebook 03: what its exercises refuse and with which words, and what it says about machine code."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.notebook.exercises import WrongAnswer
from gemm_lab_classroom.skeletons import solution
from gemm_lab_lessons.shared.criteria.fragment_check import compare, explain_fragments, fragments_held
from gpu_simulator.hardware.mma_layouts import Mma

PLAIN, LDMATRIX, WMMA = (lab.kernel(f"lessons/0{number}") for number in (1, 2, 3))


def refused(name, *changes):
    """What the exercise says to its own solution with some words changed."""
    task = lab.exercise(name)
    text = solution(name)
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    mine = lab.kernel(task.criteria["kernel"]).edit(alias="mine", **{task.criteria["region"]: text})
    with pytest.raises(WrongAnswer) as caught:
        task.check(mine)
    return str(caught.value)


# ---- Plausible wrong answers, and what they are told ----


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            [("row += r % 2 * 8", "row += r / 2 * 8"), ("k += r / 2 * 8", "k += r % 2 * 8")],
            [
                "Lane 0 holds A[0, 8] and A[0, 9] in frag_a[1], and mma wants A[8, 0] and A[8, 1] there",
                "64 of 128 registers of A are wrong",
                "in the wrong registers: frag_a[1], frag_a[2]",
            ],
        ),
        (
            [("row += r % 2 * 8", "row += 0"), ("k += r / 2 * 8", "k += 0")],
            ["frag_a[1], and mma wants A[8, 0]", "All registers of frag_a hold the same elements"],
        ),
        (
            [
                ("int k = lane % 4 * 2 + r * 8, col = lane / 4", "int k = lane / 4 + r * 8, col = lane % 4 * 2"),
                ("smem_b[k + 1][col]", "smem_b[k][col + 1]"),
            ],
            [
                "Lane 0 holds B[0, 0] and B[0, 1] in frag_b[0], and mma wants B[0, 0] and B[1, 0] there",
                "Every 8 × 8 matrix of B arrives transposed",
            ],
        ),
        (
            [("smem_b[k][col], smem_b[k + 1][col]", "smem_b[k + 1][col], smem_b[k][col]")],
            ["The two halves of each register are exchanged", "registers of B"],
        ),
        ([("r < 2; r++", "r < 1; r++")], ["in frag_b[1]"]),
        (
            [("row = lane / 4, k = lane % 4 * 2", "row = lane % 8, k = lane / 8 * 2")],
            ["Lane 1 holds A[1, 0] and A[1, 1] in frag_a[0], and mma wants A[0, 2] and A[0, 3] there"],
        ),
    ],
)
def test_misplaced_plain_loads(changes, says):
    told = refused("03_fragments", *changes)
    assert told.startswith("Every lane fetches its own: not yet. At 16 × 8 × 16: D[")
    for words in says:
        assert words in told


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            [("x2.trans.shared", "x2.shared")],
            ["Every 8 × 8 matrix of B arrives transposed: rows were handed out where mma wants columns"],
        ),
        (
            [("&smem_a[lane % 16]", "&smem_a[lane % 8 + lane / 16 * 8]"), ("lane / 16 * 16", "lane / 8 % 2 * 16")],
            ["in the wrong registers: frag_a[1], frag_a[2]"],
        ),
        ([("lane / 16 * 16", "0")], ["Lane 0 holds A[0, 0] and A[0, 1] in frag_a[2]"]),
        ([("smem_b[lane % 16][0]", "smem_b[lane % 8][0]")], ["All registers of frag_b hold the same elements"]),
        ([('"=r"(frag_a[1]), "=r"(frag_a[2])', '"=r"(frag_a[2]), "=r"(frag_a[1])')], ["frag_a[1], frag_a[2]"]),
        ([("smem_b[lane % 16][0]", "smem_a[lane % 16][0]")], ["Lane 0 holds A[0, 0] and A[1, 0] in frag_b[0]"]),
    ],
)
def test_misplaced_ldmatrix(changes, says):
    told = refused("03_ldmatrix", *changes)
    for words in says:
        assert words in told


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([("step < 2", "step < 1")], "The warp executes 1 mma of k = 8 for a tile of k = 16; it takes 2."),
        ([('"r"(frag_b[step])', '"r"(frag_b[0])')], "in %6 of the second mma, and mma wants B[8, 0] and B[9, 0] there"),
        (
            [
                ("{%6}, {%0, %1, %2, %3}", "{%6}, {%7, %7, %7, %7}"),
                ('"r"(frag_b[step])', '"r"(frag_b[step]), "f"(0.0f)'),
            ],
            "Every register holds what mma wants. Look at what is added",
        ),
    ],
)
def test_a_wrong_mma(changes, says):
    assert says in refused("03_inline_ptx", *changes)


def test_a_row_that_does_not_start_at_16_bytes_is_named():
    told = refused("03_ldmatrix", ("lane / 16 * 16", "lane / 16 * 8"))
    assert "thread (16, 0, 0) accessed 16 bytes at shared address 0x8, which is not a multiple of 16" in told


@pytest.mark.long
def test_plain_loads_are_right_and_still_no_answer_to_the_second_task():
    task = lab.exercise("03_ldmatrix")
    mine = LDMATRIX.edit(alias="mine", fragments=PLAIN.regions["fragments"])
    with pytest.raises(WrongAnswer, match=r"8 plain loads from shared memory \(LDS\) on sm_75; 0 is possible"):
        task.check(mine)
    one_by_one = (
        LDMATRIX.regions["fragments"].split("    // Lanes 0..15")[0]
        + """
    for (int r = 0; r < 2; r++)
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(frag_b[r])
                   : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&smem_b[lane % 8 + 8 * r][0]))) : "memory");"""
    )
    with pytest.raises(WrongAnswer, match="3 ldmatrix on sm_75; 2 is possible"):
        task.check(LDMATRIX.edit(alias="mine", fragments=one_by_one))


def test_another_layout_that_gives_the_right_product_is_accepted():
    """A and B may agree on another order along k: mma adds the products all the same."""
    task = lab.exercise("03_fragments")
    text = PLAIN.regions["fragments"].replace("r / 2 * 8", "(1 - r / 2) * 8").replace("+ r * 8", "+ (1 - r) * 8")
    assert "solved" in repr(task.check(PLAIN.edit(alias="mine", fragments=text)))


# ---- The check itself ----


def test_right_fragments_are_those_of_the_model():
    whole = Mma("m16n8k16", "f16")
    for kernel in (PLAIN, LDMATRIX):
        shape, a, b = fragments_held(kernel)
        assert shape == "m16n8k8" and (a[..., 0] == 0).all() and (b[..., 0] == 1).all()
        # Two fragments of k = 8 side by side are one of k = 16.
        assert (np.concatenate(list(a[..., 1:]), axis=1) == whole.coordinates("A")).all()
        assert (np.concatenate(list(b[..., 1:]), axis=1) == whole.coordinates("B")).all()
        assert compare("A", a, Mma(shape, "f16"), "aaaa") == compare("B", b, Mma(shape, "f16"), "bb") == ""


def test_a_wrong_operand_of_the_learners_mma_is_named_as_the_text_names_it():
    text = PLAIN.regions["multiply"]
    exchanged = text.replace("{%4, %5}", "{%5, %4}")
    said = " ".join(explain_fragments(PLAIN.edit(multiply=exchanged)))
    assert "Lane 0 holds A[8, 0] and A[8, 1] in %5 of the first mma, and mma wants A[0, 0] and A[0, 1] there" in said
    assert "wrong registers: %5 of the first mma, %4 of the first mma, %5 of the second mma" in said
    assert "frag_" not in said
    filled = PLAIN.regions["fragments"].replace("r % 2 * 8", "r / 2 * 8").replace("r / 2 * 8;", "r % 2 * 8;")
    assert "in frag_a[1], and mma wants" in " ".join(explain_fragments(PLAIN.edit(fragments=filled)))


def test_a_kernel_without_mma():
    assert explain_fragments(PLAIN.edit(multiply="acc[0] += frag_a[0] * frag_b[0];")) == ["No mma was executed."]


@pytest.mark.parametrize("kernel", [PLAIN, LDMATRIX, WMMA], ids=lambda k: k.name)
def test_the_lessons_are_right_and_free_of_hazards(kernel):
    run = kernel.run(64, 32, 48, backend="simulator")
    assert run.passed and run.hazards() == []


# ---- What the prose says ----


@cache
def machine_code(name, arch):
    return lab.kernel(name).sass(arch=arch).lines


def opcodes(kernel, start, arch):
    return [item.opcode for item in machine_code(kernel.name, arch) if item.opcode.startswith(start)]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_one_turn_in_machine_code(arch):
    assert len(opcodes(PLAIN, "LDS", arch)) == 8 and len(opcodes(LDMATRIX, "LDS", arch)) == 2
    for kernel in (PLAIN, LDMATRIX):
        assert opcodes(kernel, "HMMA", arch) == ["HMMA.1688.F32"] * 2
    assert opcodes(WMMA, "HMMA", arch) == (["HMMA.1688.F32"] * 4 if arch == "sm_75" else ["HMMA.16816.F32"] * 2)
    assert len(opcodes(WMMA, "LDSM", arch)) == (4 if arch == "sm_75" else 2)


def test_two_instructions_do_the_work_of_ten():
    found = {
        kernel.name: Counter(code.split(".")[0] for code in opcodes(kernel, ("LDS", "PRMT"), "sm_75"))
        for kernel in (PLAIN, LDMATRIX)
    }
    assert found == {PLAIN.name: {"LDS": 8, "PRMT": 2}, LDMATRIX.name: {"LDSM": 2}}


def test_what_fp16_loses_and_fp32_keeps():
    a, b = np.zeros((256, 576), np.float16), np.ones((576, 128), np.float16)
    a[:, 0], a[:, 8:520:8] = 2048, 1
    assert (LDMATRIX.gemm(a, b) == 2048 + 64).all() and (lab.kernel("t4/03").gemm(a, b) == 2048).all()


# ---- What the pictures show ----


def test_formats_are_those_of_numpy():
    from ml_dtypes import finfo

    from tools.figures.number_formats import FORMATS

    for form in FORMATS:
        if form.name != "TF32":  # which NumPy has not
            known = finfo({"FP32": "float32", "BF16": "bfloat16", "FP16": "float16"}[form.name])
            assert (form.largest, 1 + form.exponent + form.fraction) == (float(known.max), known.bits)
            assert form.whole == round(2 / float(known.eps))


def test_one_instruction_counts_multiply_adds():
    from tools.figures.instructions import multiply_adds

    assert multiply_adds() == {"FFMA": 32, "mma m16n8k8": 1024, "mma m16n8k16": 2048}
