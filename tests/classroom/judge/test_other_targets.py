"""An answer that is another kernel on another architecture is refused, even if its text was let pass."""

import re
from dataclasses import replace

import pytest

from gemm_lab.notebook.exercises import exercise, kernel_of
from gemm_lab_classroom.judge.answer_text import refusals
from gemm_lab_classroom.judge.other_targets import body, wrong_on_other_targets
from gemm_lab_classroom.skeletons import solution

# atomicAdd of float2 is declared from sm_90 on, __ffma2_rn from sm_100 on.
ASKS = """
    const auto ask = [](auto* x) -> decltype(QUESTION, true) { return true; };
    const auto deny = [](const auto&...) { return false; };
    struct Both : decltype(ask), decltype(deny) {
      __device__ Both(decltype(ask) a, decltype(deny) d) : decltype(ask)(a), decltype(deny)(d) {}
      using decltype(ask)::operator();
      using decltype(deny)::operator();
    };
    const bool newer = Both(ask, deny)((float2*)nullptr);
"""
SM_90, SM_100 = "atomicAdd(x, *x)", "__ffma2_rn(*x, *x, *x)"


def found(name: str, text: str) -> str:
    asked = exercise(name)
    criteria = asked.criteria
    answer = replace(kernel_of(asked, text), simulated_arch=criteria.get("arch"))
    return wrong_on_other_targets(answer, answer.compile_as_taught().arch, criteria, 5, criteria.get("sms"))


@pytest.mark.parametrize("name", ["02_inner_product", "03_fragments"])
def test_a_solution_is_right_for_all_of_them(name):
    assert found(name, solution(name)) == ""


@pytest.mark.parametrize(
    ("question", "old", "new", "says"),
    [
        (SM_90, "acc += ", "if (!newer || k) acc += ", "Compiled for sm_120a, .* it should be"),
        (SM_100, "acc += ", "if (!newer || k) acc += ", "Compiled for sm_120a, .* it should be"),
        (SM_90, "__syncthreads();", "if (!newer) __syncthreads();", "Compiled for sm_120a, .* A hazard"),
        (SM_100, "acc += ", "if (newer && smem_a[0][0] == 77.0f) acc = 0; acc += ", "sm_120a, .*must not depend on"),
        (SM_100, "acc += ", "if (newer) smem_b[k][thread_n] += 0; acc += ", "sm_120a"),
    ],
)
def test_an_answer_that_asks_for_the_architecture(question, old, new, says):
    text = solution("02_inner_product")
    assert old in text
    text = ASKS.replace("QUESTION", question) + text.replace(old, new)

    assert re.search(says, found("02_inner_product", text), re.S)
    assert any("“decltype” asks the compiler" in reason for reason in refusals(text)), "the first wall"


def test_an_answer_has_to_compile_for_all_of_them():
    text = 'asm volatile("wgmma.fence.sync.aligned;");\n' + solution("08_consumer")
    assert found("08_consumer", text).startswith("Compiled for sm_120a, which the rung is for as well: ")


def test_what_is_compared_of_a_text():
    head = "//\n// Compiler 1\n.version 8.7\n.target sm_90a\n"
    code = ".visible .entry k() {\n\t.loc 1 5 3\n\tret; // end\n}\n"
    assert body(head + code) == body(code.replace(".loc 1 5 3", ".loc 2 9 9") + "\t.section\t.debug_str { x }")
    assert body(code) != body(code.replace("ret", "exit"))


@pytest.mark.parametrize(
    "text",
    [
        "decltype(f(1)) x;",
        "const bool b = noexcept(f(1));",
        "[]<typename T>(T t) requires (sizeof(T) > 4) { };",
        "int n = sizeof(f(1));",
        "int n = sizeof(f(1) + 1);",
        "bool b = __is_same(int, float);",
        "__typeof__(x) y;",
    ],
)
def test_questions_to_the_compiler_are_refused(text):
    assert any("asks the compiler what it declares" in reason for reason in refusals(text))


@pytest.mark.parametrize(
    "text", ["int n = sizeof(float4);", "int n = sizeof(smem_a[0]);", "int n = sizeof x;", "alignas(16) int a[4];",
             "int n = sizeof(nvcuda::half);", "const auto f = [](auto& part, int n) { part[n] = 0; };"],
)  # fmt: skip
def test_sizes_of_types_and_variables_may_be_asked_for(text):
    assert refusals(text) == []
