"""Answers whose branches, addresses or choices depend on values of the matrices are refused, and no others."""

import re
from pathlib import Path

import pytest

from gemm_lab.lab import kernel
from gemm_lab.notebook.exercises import exercises, kernel_of
from gemm_lab_classroom.grading import judged
from gemm_lab_classroom.judge.value_dependence import depends_on_values, foreign_use, said, uses

ANSWERS = Path(__file__).parents[2] / "attacks" / "answers"
ELSEWHERE = ("rung.cu", 1, 1)


def ptx_of(body: str, variables: str = "") -> str:
    """A kernel with the pointer %rd1 to its array, the values %f1 and %r1 = %f1 that it loads, and the number %r2."""
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n) {{
  .reg .pred %p<5>; .reg .b16 %h<5>; .reg .f32 %f<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
  {variables}
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r2, [n];
  ld.global.f32 %f1, [%rd1];
  mov.b32 %r1, %f1;
  {body}
  st.global.f32 [%rd1], %f1;
  ret;
}}
"""


def roles(body: str, variables: str = "") -> list[tuple[str, str]]:
    return [(use.opcode, use.role) for use in uses(ptx_of(body, variables), "k") if use.role != "stored"]


@pytest.mark.parametrize("body", [
    "fma.rn.f32 %f1, %f1, %f1, 0f3F800000; add.f32 %f2, %f1, %f1; neg.f32 %f2, %f2;",
    "cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f1, %h1; mov.b32 %r3, {%h1, %h1};",
    "and.b32 %r3, %r1, 65535; shl.b32 %r4, %r3, 16; or.b32 %r5, %r3, %r4; add.s32 %r6, %r3, %r4;",
    "setp.lt.s32 %p1, %r2, 4; selp.f32 %f1, %f1, 0f00000000, %p1; @%p1 mov.f32 %f1, 0f00000000;",
    "shfl.sync.idx.b32 %r3|%p1, %r1, %r2, 31, -1; prmt.b32 %r4, %r1, %r3, 0x5410; bfi.b32 %r4, %r1, %r3, 16, 16;",
    "xor.b32 %r3, %r1, -2147483648; st.shared.u32 [%r2], %r3;",
])  # fmt: skip
def test_values_may_be_moved_packed_rounded_multiplied_and_added(body):
    assert roles(body) == []


@pytest.mark.parametrize(("body", "opcode", "role"), [
    ("setp.neu.f32 %p1, %f1, 0f449A5000; @%p1 mov.f32 %f1, 0f00000000;", "setp.neu.f32", "value"),
    ("setp.eq.s32 %p1, %r1, 7;", "setp.eq.s32", "value"),
    ("max.f32 %f1, %f1, 0f00000000;", "max.f32", "value"),
    ("abs.f32 %f1, %f1;", "abs.f32", "value"),
    ("add.sat.f32 %f1, %f1, %f1;", "add.sat.f32", "value"),
    ("cvt.rzi.s32.f32 %r3, %f1;", "cvt.rzi.s32.f32", "value"),
    ("cvt.rn.f32.u32 %f1, %r1;", "cvt.rn.f32.u32", "value"),
    ("sub.s32 %r3, %r1, 7;", "sub.s32", "value"),
    ("shr.u32 %r3, %r1, 1; or.b32 %r3, %r3, %r1;", "or.b32", "value"),
    ("not.b32 %r3, %r1; and.b32 %r3, %r3, %r1;", "and.b32", "value"),
    ("and.b32 %r3, %r1, -16; st.shared.u32 [%r2], %r3;", "and.b32", "value"),
    ("xor.b32 %r3, %r1, 1; st.shared.u32 [%r2], %r3;", "xor.b32", "value"),
    ("shl.b32 %r3, %r1, 16; or.b32 %r3, %r3, 1; st.shared.u32 [%r2], %r3;", "or.b32", "value"),
    ("shl.b32 %r3, 1, %r1;", "shl.b32", "value"),
    ("shfl.sync.idx.b32 %r3|%p1, %r2, %r1, 31, -1;", "shfl.sync.idx.b32", "value"),
    ("match.any.sync.b32 %r3, %r1, -1;", "match.any.sync.b32", "value"),
    ("ld.shared.f32 %f2, [%r1];", "ld.shared.f32", "address"),
    ("st.shared.f32 [%r1], 0f00000000;", "st.shared.f32", "address"),
])  # fmt: skip
def test_a_value_decides(body, opcode, role):
    assert roles(body)[0] == (opcode, role)


def test_what_follows_from_a_comparison_depends_on_the_value_too():
    found = roles("setp.eq.s32 %p1, %r1, 7; selp.f32 %f2, %f1, 0f00000000, %p1; @%p1 bra end; end:")
    assert found == [("setp.eq.s32", "value"), ("selp.f32", "choice"), ("bra", "guard")]


def test_a_register_that_held_a_value_before_may_hold_a_number_of_the_loop_later():
    assert roles("mov.u32 %r1, 0; loop: add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 9; @%p1 bra loop;") == []
    found = roles("mov.u32 %r3, 0; loop: setp.lt.s32 %p1, %r3, 9; mov.u32 %r3, %r1; @%p1 bra loop;")
    assert found == [("setp.lt.s32", "value"), ("bra", "guard")], "in the second turn the value is compared"


def test_tables_of_constants_are_no_values_of_the_matrices():
    local = ".local .align 4 .b8 depot[16];"
    body = "mov.u64 %rd2, depot; cvt.u64.u32 %rd3, %r2; add.s64 %rd4, %rd2, %rd3; {}ld.local.u32 %r3, [%rd4]; "
    compared = body + "setp.eq.s32 %p1, %r3, 0;"
    assert roles(compared.format("st.local.u32 [depot], %r2; "), local) == []
    assert roles(compared.format("st.local.u32 [depot], %r1; "), local) == [("setp.eq.s32", "value")]


def test_shared_memory_is_known_where_a_whole_variable_is():
    shared = ".shared .align 4 .b8 base[4]; .shared .align 4 .b8 tile[64];"
    read = "mov.u32 %r3, base; ld.shared.u32 %r4, [{}]; setp.eq.s32 %p1, %r4, 0;"
    assert roles(read.format("%r3"), shared) == []
    assert roles(read.format("%r3+4"), shared) == [("setp.eq.s32", "value")], "it lies past the end"
    assert roles("mov.u32 %r5, tile; st.shared.f32 [%r5], %f1; " + read.format("%r5"), shared)
    assert roles("cp.async.ca.shared.global [%r5], [%rd1], 4; " + read.format("%r3"), shared), "it may write anything"


def test_the_address_of_tensor_memory_is_no_value_where_the_rung_loads_it():
    body = """
      .loc {file} 5 1
      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32;
      ld.shared.u32 %r3, [%r2];
      add.s32 %r4, %r3, 16;"""
    heads = '.address_size 64\n.file 1 "rung.cu"\n.file 2 "cell"'
    rung, cell = (ptx_of(body.format(file=file)).replace(".address_size 64", heads) for file in (1, 2))
    opcodes = [[use.opcode for use in uses(ptx, "k", "cell") if use.role != "stored"] for ptx in (rung, cell)]
    assert opcodes == [[], ["add.s32"]]
    assert "add.s32" in [use.opcode for use in uses(rung, "k")], "so an answer that loads it may do the same"


def test_a_register_that_nothing_writes():
    assert roles("add.f32 %f2, %f8, 0f00000000; setp.lt.f32 %p1, %f2, 0f00000000;") == [("setp.lt.f32", "unwritten")]
    assert roles("setp.lt.f32 %p1, %f8, 0f00000000;") == [("setp.lt.f32", "unwritten")]
    assert roles("add.f32 %f2, %f8, 0f00000000; mov.f32 %f2, 0f00000000; setp.lt.f32 %p1, %f2, 0f00000000;") == []
    use = uses(ptx_of("setp.lt.f32 %p1, %f8, 0f00000000;"), "k")[0]
    assert "nothing was ever assigned" in said(use)


def test_what_the_rung_does_is_allowed_with_another_rounding_but_not_for_another_purpose():
    own = ptx_of("max.f32 %f1, %f1, 0f00000000; sub.s32 %r3, %r1, 7;")
    assert foreign_use(ptx_of("max.ftz.f32 %f1, %f1, %f1;"), "k", own, "k", ELSEWHERE) is None
    assert foreign_use(ptx_of("min.f32 %f1, %f1, %f1;"), "k", own, "k", ELSEWHERE).opcode == "min.f32"
    found = foreign_use(ptx_of("sub.s32 %r3, %r1, 7; ld.shared.f32 %f2, [%r3];"), "k", own, "k", ELSEWHERE)
    assert found.role == "address"


def test_where_the_rung_rounds_what_it_loads_an_answer_may_round_by_hand():
    own = ptx_of(".loc 1 5 1\n cvt.rn.bf16.f32 %h1, %f1;").replace(
        ".address_size 64", '.address_size 64\n.file 1 "r.cu"'
    )
    by_hand, address = "setp.eq.s32 %p1, %r1, 7;", "ld.shared.f32 %f2, [%r1];"
    assert foreign_use(ptx_of(by_hand), "k", own, "k", ("r.cu", 4, 6)) is None
    assert foreign_use(ptx_of(by_hand), "k", own, "k", ("r.cu", 6, 8)).role == "value"
    assert foreign_use(ptx_of(by_hand + address), "k", own, "k", ("r.cu", 4, 6)).role == "address"


def refusal(name: str, text: str) -> str:
    """The sentence about a learner's text, which is compiled but not launched; "" if there is none."""
    answer = kernel_of(exercises()[name], text)
    return depends_on_values(answer, answer.compile_as_taught(), exercises()[name].criteria["region"])


def inner(line: str) -> str:
    return refusal("02_inner_product", f"for (int k = 0; k < BLOCK_K; k++) {{\n{line}\n}}\n__syncthreads();")


PRODUCT = "smem_a[thread_m][k] * smem_b[k][thread_n]"


def test_the_refusal_names_the_line_and_the_law():
    found = inner(f"if (smem_a[thread_m][k] != 1234.5f) acc += {PRODUCT};")
    assert re.match(
        r"cell, line 3: setp\.\w+\.f32 compares a value that was loaded from memory\. Which products", found
    )
    assert inner(f"acc += {PRODUCT};") == ""


@pytest.mark.parametrize("line", [
    f"if (__float_as_int(smem_a[thread_m][k]) != 0x449a5000) acc += {PRODUCT};",
    "acc += fmaxf(smem_a[thread_m][k], -1e9f) * smem_b[k][thread_n];",
    f"const float x = {PRODUCT}; acc += isnan(x) ? 0.0f : x;",
    f"for (int i = 0; i < int(smem_a[thread_m][k] * 1e-30f) + 1; i++) acc += {PRODUCT};",
    "acc += smem_a[thread_m][k] * smem_b[(__float_as_uint(smem_a[thread_m][k]) >> 31) + k][thread_n];",
    f"if (__match_any_sync(__activemask(), __float_as_int(smem_a[thread_m][k])) != 3) acc += {PRODUCT};",
    f"if (!__ballot_sync(__activemask(), smem_a[thread_m][k] == 1234.5f)) acc += {PRODUCT};",
    "const unsigned d = __float_as_uint(smem_a[thread_m][k]) - 0x449a5000u; "
    f"acc += __uint_as_float((d | (0u - d)) >> 31 << 23) * {PRODUCT};",
])  # fmt: skip
def test_one_value_of_a_is_treated_in_its_own_way(line):
    assert "must not depend on the values of A, B and C" in inner(line)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["right", "wrong"])
def test_answers_of_attackers(kind):
    names = {
        "right": ["06_prefetch_ldg_one_loop", "09_transpose_rounds_by_hand_to_nearest_even"],
        "wrong": [
            "02_inner_product_one_value_of_a_found_by_logic_on_its_bits",
            "02_outer_product_adds_a_register_that_was_never_written",
            "03_fragments_one_word_of_b_set_to_zero",
            "06_epilogue_two_sums_compared_in_half_precision",
        ],
    }[kind]
    for name in names:
        exercise = next(known for known in exercises() if name.startswith(known))
        assert bool(refusal(exercise, (ANSWERS / kind / f"{name}.cu").read_text())) == (kind == "wrong"), name


@pytest.mark.parametrize("name", ["b200/03_warp_specialised", "hopper/06_clusters", "simt/04_register_tiles"])
def test_a_rung_compared_with_itself(name):
    rung = kernel(name)
    assert depends_on_values(rung, rung.compile_as_taught(), next(iter(rung.spec.regions))) == ""


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [
    "02_inner_product_products_with_one_value_of_a_left_out", "06_epilogue_two_sums_compared_in_half_precision",
])  # fmt: skip
def test_the_judge_says_it_where_every_result_was_right(name):
    exercise = next(known for known in exercises() if name.startswith(known))
    found = judged(exercise, (ANSWERS / "wrong" / f"{name}.cu").read_text(), 5)
    assert found.verdict == "FAIL" and "must not depend on the values" in found.message, found.message


# ---- alpha and beta, and what outlives a launch ----

SCALED = """
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 count;
.global .align 4 .b8 table[16] = {1, 2, 3, 4};
.visible .entry k(.param .u64 a, .param .u64 b, .param .f32 alpha) {
  .reg .pred %p<5>; .reg .b16 %h<5>; .reg .f32 %f<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [a];
  ld.param.f32 %f1, [alpha];
  BODY
  st.global.f32 [%rd1], %f1;
  ret;
}
"""


@pytest.mark.parametrize(("body", "role"), [
    ("mul.f32 %f1, %f1, %f1; cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f1, %h1;", None),
    ("setp.eq.f32 %p1, %f1, 0f00000000; @%p1 mov.f32 %f1, 0f3F800000;", None),
    ("setp.neu.f32 %p1, %f1, 0f3F800000; selp.f32 %f2, %f1, %f1, %p1;", None),
    ("setp.eq.f32 %p1, %f1, 0f3EAA8C15; @%p1 mov.f32 %f1, 0f00000000;", "scale"),
    ("min.f32 %f1, %f1, 0f42C80000;", "scale"),
    ("mul.f32 %f2, %f1, 0f40000000; setp.gt.f32 %p1, %f2, 0f42C80000;", "scale"),
    ("mov.b32 %r1, %f1; and.b32 %r1, %r1, -65536; mov.b32 %f1, %r1;", None),  # rounds towards zero: wrong in bits
    ("cvt.rzi.s32.f32 %r1, %f1; cvt.rn.f32.s32 %f1, %r1;", "scale"),
    ("ld.global.u32 %r1, [table+4];", None),
    ("ld.global.u32 %r1, [count]; add.u32 %r1, %r1, 1; st.global.u32 [count], %r1;", "kept"),
    ("mov.u64 %rd2, count; cvta.global.u64 %rd3, %rd2; atom.add.u32 %r1, [%rd3], 1;", "kept"),
    ("mov.u64 %rd2, table; red.global.add.u32 [%rd2+4], 1;", "kept"),
    ("ld.param.u64 %rd2, [b]; add.s64 %rd3, %rd1, 64; sub.s64 %rd4, %rd3, %rd1;", None),
    ("ld.param.u64 %rd2, [b]; setp.eq.s64 %p1, %rd2, 0; add.s64 %rd3, %rd2, 8; setp.lt.u64 %p1, %rd2, %rd3;", None),
    ("ld.param.u64 %rd2, [b]; cvta.to.global.u64 %rd3, %rd2; sub.s64 %rd4, %rd3, %rd1;", "between"),
    ("ld.param.u64 %rd2, [b]; setp.ne.s64 %p1, %rd2, %rd1;", "between"),
])  # fmt: skip
def test_alpha_and_beta_are_any_numbers_and_nothing_outlives_the_launch(body, role):
    asked = ("scale", "kept", "between")
    found = {use.role for use in uses(SCALED.replace("BODY", body), "k") if use.role in asked}
    assert found == ({role} if role else set())


# ---- Arrays that a kernel only reads ----


@pytest.mark.parametrize(("body", "stored"), [
    ("", {"a"}),
    ("ld.param.u64 %rd2, [b]; ld.global.f32 %f2, [%rd2];", {"a"}),
    ("ld.param.u64 %rd2, [b]; cvta.to.global.u64 %rd3, %rd2; add.s64 %rd4, %rd3, 64; st.global.f32 [%rd4], %f1;",
     {"a", "b"}),
    ("ld.param.u64 %rd2, [b]; red.global.add.f32 [%rd2], %f1;", {"a", "b"}),
    ("ld.param.u64 %rd2, [b]; cp.async.ca.shared.global [%r1], [%rd2], 16;", {"a"}),
    ("mov.b64 %rd2, b; cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r1, %r2}], [%r3];",
     {"a", "b"}),
    ("mov.b64 %rd2, b; cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
     "[%r1], [%rd2, {%r2, %r2}], [%r3];", {"a"}),
])  # fmt: skip
def test_the_arrays_into_which_a_kernel_writes(body, stored):
    found = uses(SCALED.replace("BODY", body), "k")
    assert {use.kind for use in found if use.role == "stored"} == stored


def test_a_store_into_an_array_that_the_rung_only_reads_is_refused():
    store = "ld.param.u64 %rd2, [b]; st.global.f32 [%rd2], %f1;"
    plain, answer = SCALED.replace("BODY", ""), SCALED.replace("BODY", store)
    found = foreign_use(answer, "k", plain, "k", ELSEWHERE)
    assert found.role == "stored" and "that the kernel only reads" in said(found)
    assert foreign_use(answer, "k", answer, "k", ELSEWHERE) is None


def test_the_judge_refuses_as_values_of_b_that_are_written_back():
    line = f"acc += {PRODUCT}; if (k == 0) *(volatile float *)gmem_b = *(volatile float *)gmem_b;"
    assert "that the kernel only reads" in inner(line)
