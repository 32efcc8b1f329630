"""The rules for the text of an answer refuse what leaves the region, and nothing that a kernel needs."""

import pytest

from gemm_lab.config import data_dir
from gemm_lab.notebook.exercises import exercises
from gemm_lab.notebook.judges.cuda_tokens import blanked
from gemm_lab.source_text import find_regions
from gemm_lab_classroom.judge.answer_text import refusals
from gemm_lab_classroom.skeletons import solution

REGIONS = {
    f"{path.parent.name}/{path.stem}:{name}": region.text
    for path in sorted(data_dir("kernels").glob("*/*.cu"))
    for name, region in find_regions(path.read_text()).items()
}


def test_every_region_of_every_kernel_that_closes_what_it_opens_may_be_an_answer():
    whole = {name: text for name, text in REGIONS.items() if text.count("{") == text.count("}")}
    assert len(whole) > 100
    assert {name: found for name, text in whole.items() if (found := refusals(text))} == {}


def test_every_solution_may_be_an_answer():
    names = [name for name, task in exercises().items() if task.judge == "kernel"]
    assert {name: found for name in names if (found := refusals(solution(name)))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "int x = 1'000'000;",
        "char brace = '}';",
        'printf("} // end region /* #include");',
        '// } and { and /* and "',
        '// asm("}")\nint y;',
        '/* # } " */ int x;',
        "const auto f = [&](int i) { return i; };",
        "#pragma unroll 4\nfor (;;) {}",
        "x = y % 3; // %:",
        'asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0; @p bra done; done: }" :: "r"(x));',
        'asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\\n\\tfence.proxy.async;" :: "r"(x) : "memory");',
        "int asm_lines = 3; { int region = 4; }",
        "a = b // region of interest\n  + c;",
        "#pragma nounroll\nfor (;;) {}",
        "const auto f = [](int k) noexcept { return k; }; decltype(sum) part = 0; decltype(a[0] * b->c) d;",
        "int f() noexcept; static_assert(sizeof(a + 1) == 4 && alignof(float4) % sizeof(x / 2 - 1.0f) == 0);",
        "__host__ __device__ constexpr int twice(int x) { return 2 * x; }",
    ],
)
def test_what_a_kernel_may_say(text):
    assert refusals(text) == []


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("int x;\n  #include <x>", 3, "“#include”"),
        ("\n\n}", 4, "closes a block"),
        ("{\n{\n}", 2, "1 { stay open"),
        ("int x; /*", 2, "does not end"),
        ("x = 'ab\n';", 2, "does not end"),
        ("#pragma once", 2, "“#pragma”"),
        ("a;\n/* x\n*/ #define A", 4, "“#define”"),
        ("#", 2, "“#”"),
        ("??=define A 1\n#  define A 1", 2, "a trigraph"),
        ('__asm__("}");', 2, "do not match"),
        ('asm ( "{" ::: );', 2, "do not match"),
        ('asm("nop; .pragma \\"x\\";");', 2, "“.pragma”"),
        ('asm("l: .branchtargets l;");', 2, "“.branchtargets”"),
        ("__global__ void f();", 2, "never launched"),
        ("<% %> %>", 2, "closes"),
        ('asm(/* " */ "} .entry g {" /* " */);', 2, "do not match"),
        ('asm("\\x7d .entry g \\x7b");', 2, "may stand for other"),
        ("switch (x) { case'b/*':\n#include <x>\n// */\n}", 3, "“#include”"),
        ("y = u8'\"';\n#line 1", 3, "“#line”"),
        ("x = 1; \\\n y;", 2, "backslash"),
        ("//region: x", 2, "marks the regions"),
        ('u8R"(x)"', 2, "raw string"),
        ('f({\nasm(R"(nop;)" ::);\n});', 3, "raw string"),
        ('extern "C" __device__ int f();', 2, "extern with a language"),
        ('asm("mov.b32\\t%0, %1;" :: "r"(x), "r"(y));', 2, "this mov writes %0"),
        ('asm("{ @p ld.shared.b32 %[to], [%1]; }" :: [to] "r"(x), "r"(y));', 2, "this ld writes %to"),
        ('asm("mma.sync.aligned.x {%0, %1}, {%2}, {%3}, {%0, %1};" : "+f"(x) : "f"(y), "r"(a), "r"(b));', 2, "%1"),
    ],
)
def test_what_it_may_not_say_is_refused_with_its_line_in_the_cell(text, line, says):
    (first, *_) = refusals(text, first_line=2)
    assert first.startswith(f"Line {line}: ") and says in first


@pytest.mark.parametrize(
    "text",
    [
        'asm("mov.b32\\t%0, %1;" : "=r"(x) : "r"(y));',
        'asm("st.shared.b32 [%0], %1;" :: "r"(x), "r"(y));',
        'asm("{.reg .pred p; setp.ne.b32 p, %1, 0; @p add.f32 %0, %0, %2;}" : "+f"(x) : "r"(y), "f"(z));',
        'asm("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%[a], %[b]}, [%[at]];"'
        ' : [a] "=r"(x), [b] "=r"(y) : [at] "r"(z));',
        'asm("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1};" :: "r"(x), "f"(y));',
        'asm("cp.async.wait_all;" ::: "memory");',
    ],
)
def test_asm_that_writes_its_outputs_is_allowed(text):
    assert refusals(text) == []


def test_three_reasons_are_enough():
    assert len(refusals("#define A\n" * 9)) == 3


def test_blanking_keeps_places():
    text = "a /* b\n c */ \"d}\" // e\n'{' f"
    code = blanked(text)
    assert len(code) == len(text) and code.count("\n") == 2
    assert code.split() == ["a", '"', '"', "'", "'", "f"]
