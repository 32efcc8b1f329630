"""What nvcc takes and NVRTC alone does not: GNU forms, C++20, 128-bit integers, functions of the runtime, host headers."""

import numpy as np
import pytest
from compiling import need_compiler

from gpu_simulator import ConfigError, simulate
from gpu_simulator.compiler import CompileError, compile
from gpu_simulator.compiler.device_code import device_code
from gpu_simulator.compiler.standards import standard_for


@pytest.fixture(autouse=True)
def compiler():
    need_compiler()


def results(source: str, kernel: str = "k", count: int = 8, **options) -> list[int]:
    """What a kernel makes of the numbers 0, 1, … in one warp."""
    numbers = np.arange(32, dtype=np.int32)
    simulate(source, kernel, block=32, args=[numbers], **options)
    return numbers[:count].tolist()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("__global__ void k(int* x) { register int i = threadIdx.x; x[i] = 3 * i; }", [0, 3, 6, 9]),
        ("__device__ int twice(register int a) { return 2 * a; } __global__ void k(int* x) { x[3] = twice(4); }", [0, 1, 2, 8]),
        ("__global__ void k(int2* x) { x[1] = (int2){x[0].y, 7}; }", [0, 1, 1, 7]),
        ("struct P { int a, b; }; __device__ int sum(P p) { return p.a + p.b; }\n"
         "__global__ void k(int* x) { x[0] = sum((struct P) {x[2], x[3]}) + sum((P){.a = 1, .b = 1}); }", [7, 1, 2, 3]),
        ("struct P { int a, b; }; __global__ void k(int* x) { P p = {.a = 5, .b = 6}; x[0] = p.a * p.b; }", [30, 1, 2, 3]),
        ("struct P { int n; P& operator=(int) { n = 9; return *this; } }; __device__ int f(int) { return 4; }\n"
         "__global__ void k(int* x) { P p; p = 1; if ((x[0] == 0)) { x[0] = p.n + f(2); } }", [13, 1, 2, 3]),
        ("__global__ void k(int* x) { __int128 a = 1ll << 62; a = a * (x[1] + 5); x[0] = int(a >> 62); }", [6, 1, 2, 3]),
        ("__global__ void k(int* x) { unsigned __int128 a = -1; x[0] = a / 3 == (a - 1) / 3 + 1; x[1] = a % 1000; }", [1, 455, 2, 3]),
        ("__global__ void k(int* x) { cudaGridDependencySynchronize(); x[0] = 5; cudaTriggerProgrammaticLaunchCompletion(); }", [5, 1, 2, 3]),
        ("#include <cuda_device_runtime_api.h>\n__global__ void k(int* x) { cudaTriggerProgrammaticLaunchCompletion(); x[0] = 6; }", [6, 1, 2, 3]),
        ("template <class T> requires (sizeof(T) == 4) __global__ void k(T* x) { x[0] = 8; }", [8, 1, 2, 3]),
        ("template <class T> concept Word = sizeof(T) == 4;\ntemplate <Word T> __global__ void k(T* x) { x[0] = 8; }", [8, 1, 2, 3]),
        ("consteval int eight() { return 8; } __global__ void k(int* x) { x[0] = eight(); }", [8, 1, 2, 3]),
    ],
)  # fmt: skip
def test_it_runs(source, expected):
    kernel = "k<int>" if "template" in source else "k"
    assert results(source, kernel, len(expected), arch="sm_90") == expected


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("x[0] = ({ int a = x[1]; a + 1; });", "a statement expression"),
        ("x[0] = LARGER(x[1], x[2]);", "a statement expression"),
        ("x[0] = x[1] ?: 3;", "write a ? a : b"),
        ("switch (x[0]) { case 0 ... 3: x[1] = 2; }", "write one case for each value"),
        ("typeof(x[0]) a = 3; x[0] = a;", "write decltype"),
        ("const int2 a = MADE(1); x[0] = a.x;", "expected an expression"),
    ],
)
def test_it_is_refused_as_a_gnu_extension(body, says):
    macros = "#define LARGER(a, b) ({ auto x = (a); auto y = (b); x > y ? x : y; })\n#define MADE(a) (int2){a, a}\n"
    with pytest.raises(CompileError) as error:
        simulate(f"{macros}__global__ void k(int* x) {{ {body} }}")
    assert says in str(error.value) and "line 3" in str(error.value)
    assert "GNU extension that NVRTC does not have" in str(error.value) or "MADE" in body


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("register int a = 1; x[0] = a;", "leave the word out"),
        ("int2 a = (int2){1, 2}; x[0] = a.x;", "write int2{…}, without the parentheses"),
        ("int2 a = {.x = 1, .y = 2}; x[0] = a.x;", "choose c++20 as the standard"),
    ],
)
def test_text_that_is_not_a_file_gets_the_same_sentences(body, says):
    with pytest.raises(CompileError, match="is a GNU extension") as error:
        compile(f'extern "C" __global__ void gemm(int* x) {{ {body} }}', arch="sm_80", std="c++17")
    assert says in str(error.value)


def test_the_standard_can_be_chosen():
    source = "__global__ void k(int* x) { x[0] = __cplusplus / 100; }"
    assert [results(source, count=1, std=std) for std in (None, "c++14", "c++17", "c++20")] == [
        [2017],
        [2014],
        [2017],
        [2020],
    ]
    with pytest.raises(ConfigError, match=r"no C\+\+ standard 'c\+\+2b'; choose c\+\+11, c\+\+14, c\+\+17 or c\+\+20"):
        results(source, std="c++2b")


def test_a_concept_is_refused_where_the_standard_has_none():
    source = "template <typename T> concept Any = true;\ntemplate <Any T> __global__ void k(T* x) { x[0] = 1; }"
    with pytest.raises(ConfigError, match=r"the concept Any, which c\+\+17 does not know; choose c\+\+20"):
        results(source, "k<int>", std="c++17")


def test_a_concept_in_text_that_is_not_a_file_does_not_crash_the_compiler():
    source = "template <class T> concept Any = true; template <Any T> __device__ T f(T a) { return a; }\n"
    assert compile(source + 'extern "C" __global__ void gemm(int* x) { x[0] = f(1); }', arch="sm_80").entry == "gemm"


def test_words_in_comments_and_strings_choose_no_standard():
    source = '// concept A = 1;\nconst char* text = "{ .a = 1 }"; int requires_two, a[2] = {1, .5f > 0};'
    assert standard_for(source, None) == "c++17"


@pytest.mark.parametrize(
    "host",
    [
        "#include <sys/resource.h>\nstruct Timer { rusage from; void start() { getrusage(RUSAGE_SELF, &from); } };",
        "#include <time.h>\nclass Timer { timespec from; public: void start() { clock_gettime(CLOCK_MONOTONIC, &from); } };",
        "#include <binding.h>\nvoid op() {}\nEXPORT_FUNC(op, ns::op);",
        "#include <binding.h>\nvoid op() {}\nEXPORT_FUNC(op, (ns::op))\n",
        "#include <binding.h>\nLIBRARY_OF(op, m) { m.def(op); }",
        "#include <binding.h>\nBOUNDS_1(64)",
    ],
)
def test_what_headers_of_the_host_declare_goes(host):
    assert results(f"{host}\n__global__ void k(int* x) {{ x[0] = 4; }}\nint main() {{ k<<<1, 1>>>(0); }}", count=1) == [
        4
    ]


def test_a_macro_of_a_file_that_is_read_stays(tmp_path):
    text = "#include <binding.h>\n#define TABLE(name) __constant__ int name[4]\nTABLE(first);\nint other;\n"
    code = device_code(tmp_path / "file.cu", text).text
    assert "TABLE(first);" in code and "other" not in code


def test_a_header_that_was_left_out_comes_first_if_it_is_the_cause():
    source = '#include "common.h"\n__global__ void k(int* x) { x[0] = ROWS; }'
    with pytest.raises(CompileError) as error:
        results(source)
    lines = str(error.value).split("\n")
    assert lines[1].startswith("Left out: common.h. There is no such header here") and "ROWS" in lines[2]
    assert error.value._repr_html_().index("common.h") < error.value._repr_html_().index("ROWS")
    with pytest.raises(CompileError) as error:
        results('#include "common.h"\n__global__ void k(int* x) { x[0] = 1 }')
    assert "expected a" in str(error.value).split("\n")[1] and "common.h" in str(error.value).split("\n")[-1]
