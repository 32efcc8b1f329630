"""An answer with a variable that nobody sets is refused, even where 0 is right and the simulator would begin with 0."""

import pytest

from gemm_lab.notebook.exercises import exercise, kernel_of
from gemm_lab_classroom import skeletons
from gemm_lab_classroom.grading import judged


def solution(name: str, *replaced: tuple[str, str]) -> str:
    text = skeletons.solution(name)
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    return text


ZERO = 'int nothing; asm("{ .reg .b32 empty; mov.b32 %0, empty; }" : "=r"(nothing));\n'


@pytest.mark.parametrize(
    ("name", "replaced", "variable"),
    [
        ("08_producer", [("k_tile = 0, stage = 0;", "k_tile = 0;"), ("int parity", "int stage, parity")], "stage"),
        ("10_consumer", [("int stage = 0,", "int stage,")], "stage"),
        ("10_consumer", [("parity = 0", "parity")], "parity"),
        ("11_accumulators", [("int buffer = 0,", "int buffer,")], "buffer"),
        ("11_accumulators", [("buffer_parity = 0", "buffer_parity")], "buffer_parity"),
        ("02_inner_product", [("    for (int k", f"    {ZERO}    for (int k"), ("[k][thread_n]", "[k + nothing][thread_n]")], "empty"),
        ("00_coalesce", [("  const int row", f"  {ZERO}  const int row"), ("const int col =", "const int col = nothing +")], "empty"),
    ],
)  # fmt: skip
def test_an_answer_whose_variable_has_no_value(name, replaced, variable):
    found = judged(name, solution(name, *replaced), 3)
    assert found.verdict == "FAIL"
    assert f"uses the value of {variable}, to which" in found.message or f"a value of {variable}, a r" in found.message


def test_a_variable_that_the_compiler_takes_for_what_it_likes():
    text = solution("00_coalesce", ("  const int row", "  int nothing;\n  const int row"), ("col =", "col = nothing +"))
    found = judged("00_coalesce", text, 3)
    assert found.verdict == "FAIL" and "the compiler warns that nothing is used before it has a value" in found.message


def test_a_variable_that_the_first_round_sets_and_the_second_reads_is_right():
    text = solution("10_consumer", ("before = 0;", "before;"))
    assert "k_tile > 0 &&" in text
    run = kernel_of(exercise("10_consumer"), text).run(256, 128, 512, backend="simulator")
    assert run.passed and not run.hazards()
