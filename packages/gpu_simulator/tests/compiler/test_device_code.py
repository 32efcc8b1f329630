"""Host code is left out of a .cu file, device code stays at its line."""

import pytest

from gpu_simulator.compiler.device_code import device_code


def kept(text, tmp_path, **options):
    """The lines that stay, by number."""
    code = device_code(tmp_path / "file.cu", text, **options)
    body = code.text.partition('#line 1 "file.cu"\n')[2]
    assert body.count("\n") == text.count("\n"), "each line keeps its number"
    return {number: line.strip() for number, line in enumerate(body.split("\n"), 1) if line.strip()}


@pytest.mark.parametrize(
    "device",
    [
        "__global__ void k(int* p) { p[0] = 1; }",
        "__device__ __forceinline__ int f(int a = (1 + 2)) { return a; }",
        "__host__ __device__ int f() { return 1; }",
        "template <class T, int N = (1 << 3)> __global__ void k(T* p) { p[0] = N; }",
        "template <> __device__ int f<int>(int a) { return a; }",
        "__global__ void __launch_bounds__(256, (2)) k() { }",
        "template <class T> __global__ __launch_bounds__(decltype(size(T{}))::value) void k(T t = T{}) { }",
        "struct Pair { int a; float b; };",
        "template <class T> struct Box { __device__ T* get() { return p; } T* p; };",
        "typedef unsigned int word;",
        "using word = unsigned int;",
        "enum Kind { ONE, TWO };",
        "constexpr int N = 5;",
        "constexpr int twice(int n) { return 2 * n; }",
        "static constexpr float SCALE[2] = {1.0f, 2.0f};",
        "const size_t SIZE = 8ULL * 1024;",
        "const int ROWS = SIZE / 2;",
        "float const HALF = 0.5 * 2e-1f;",
        "typedef struct __align__(8) { float x, y; } pair;",
        "typedef struct __builtin_align__(8) { float x, y; } pair;",
        "typedef union ALIGNED(16) { float x; int y; } word;",
        "struct ALIGNED(16) Word { float x; };",
        "template <class T, int N> struct Room { using type = typename std::aligned_storage<N * sizeof(T), N>::type; };",
        "__constant__ float table[16];",
        "__device__ int counter = 0;",
        "static_assert(sizeof(int) == 4, \"; {\");",
        "namespace cg = cooperative_groups;",
        "using namespace cooperative_groups;",
        "DEFINE_KERNEL(float);",
        'extern "C" __global__ void k() { asm volatile("{ .reg .b32 t; }"); }',
    ],
)  # fmt: skip
def test_device_code_stays(device, tmp_path):
    assert kept(f"{device}\n", tmp_path, used=device) == {1: device}


@pytest.mark.parametrize(
    "host",
    [
        "int main() { k<<<1, 2>>>(); return '}'; }",
        "static void check(cudaError_t e, const char* text = \"}\") { if (e) exit(1); }",
        "void launch(float* p, int n);",
        'extern "C" void launch(void) { }',
        "template <class T> void reference(T* p) { p[0] = 1; }",
        "template void reference<int>(int* p);",
        "float *h_data = NULL;",
        "static std::vector<float> values = {1, 2};",
        "const char* names[] = {\"a\", \"b\"};",
        "const dim3 grid(1, 2);",
        "const double AREA = WIDTH * WIDTH;",
        "using namespace std;",
        "struct Options { std::string name; };",
        "template <int n> typename std::enable_if<n == 2, cudaError_t>::type launch(int a) { if (a) { } return run(); }",
        "bool operator==(const A& a, const A& b) { return a.x == b.x; }",
        "Timer::Timer(int n) : count(n) { start(); }",
    ],
)  # fmt: skip
def test_host_code_goes(host, tmp_path):
    assert kept(f"{host}\n", tmp_path) == {}


def test_lines_between_them_keep_their_numbers(tmp_path):
    text = "/* } */\nint main()\n{\n  // {\n}\n\n__global__ void k()\n{\n}\n"
    assert kept(text, tmp_path) == {1: "/* } */", 7: "__global__ void k()", 8: "{", 9: "}"}


def test_what_a_namespace_holds_is_looked_at_one_by_one(tmp_path):
    text = 'namespace a {\nint host() { return 1; }\n__device__ int f() { return 1; }\n}\nextern "C" {\nvoid h();\n__global__ void k() {}\n}\n'
    assert sorted(kept(text, tmp_path)) == [1, 3, 4, 5, 7, 8]


def test_a_macro_may_say_that_a_function_is_of_the_device(tmp_path):
    text = "#define KERNEL extern __global__\nKERNEL void k() { }\nvoid host() { }\n"
    assert sorted(kept(text, tmp_path)) == [1, 2]


def test_braces_that_do_not_match_leave_the_text_as_it_is(tmp_path):
    text = "int main() {\n__global__ void k() { }\n"
    assert sorted(kept(text, tmp_path)) == [1, 2]


def test_kernels_and_templates_are_named(tmp_path):
    text = (
        "template <int N = sizeof(int)> __global__ void a(int* p) {}\n__global__ void __launch_bounds__(N(1)) b() {}\n"
        "template <> __global__ void a<1>(int* p) {}\ntemplate <class T> struct S { __global__ void no(); };\n"
    )
    code = device_code(tmp_path / "f.cu", text)
    assert code.kernels == ("a", "b") and code.templates == {"a": "int N = sizeof(int)"}


def test_headers_are_put_in_left_out_or_left_to_the_compiler(tmp_path):
    (tmp_path / "own.h").write_text(
        '#pragma once\n#include "deep/more.h"\nint host() { return 1; }\n__device__ int f();\n'
    )
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/more.h").write_text("#include <string>\n#define MORE 1\n")
    text = '#include "own.h"\n#include <cuda_fp16.h>\n#include <stdint.h>\n#include "own.h"\n// #include "none.h"\n'
    code = device_code(tmp_path / "f.cu", text, has=lambda name: name == "cuda_fp16.h")
    lines = [line for line in code.text.split("\n") if line]
    assert lines == [
        '#line 1 "types.h"', "#include <host_values.h>", '#line 1 "f.cu"', '#line 1 "own.h"', "#pragma once", '#line 1 "deep/more.h"', "#define MORE 1",
        '#line 2 "own.h"', "__device__ int f();", '#line 1 "f.cu"', "#include <cuda_fp16.h>", '// #include "none.h"',
    ]  # fmt: skip
    assert code.left_out == ("string",)


def test_an_unmarked_class_goes_if_it_calls_host_functions_and_nothing_that_stays_uses_it(tmp_path):
    text = (
        "bool same(int a, int b) { return a == b; }\n"
        "template <class T> struct Check { bool of(T a) { return same(a, 1); } };\n"
        "struct Used { int n; void print() { same(n, 1); } };\n"
        "__global__ void k(Used u) { }\n"
    )
    assert sorted(kept(text, tmp_path)) == [3, 4]


def test_a_macro_that_stands_for_a_declaration_needs_no_semicolon(tmp_path):
    text = (
        "#define BIND(name,   \\\n             type)   \\\n  void name(torch::Tensor x) { run<<<1, 1>>>(x); }\n"
        "#define MAKE(name) __global__ void name() { }\n"
        "#define TYPE(name) struct name { int a; };\n"
        "BIND(f, (1, 2))\nMAKE(k)\nBIND(g, 1)\nTYPE(S)\n__global__ void last(S s) { }\n"
    )
    assert [number for number in kept(text, tmp_path) if number > 5] == [7, 9, 10]


def test_a_macro_may_say_constexpr(tmp_path):
    text = "#define FIXED constexpr\ntemplate <int N> FIXED int twice() { return 2 * N; }\nint host() { return 1; }\n"
    assert sorted(kept(text, tmp_path, used="twice<2>")) == [1, 2]


def test_lines_of_a_header_inside_a_class_that_goes_are_counted(tmp_path):
    (tmp_path / "members.inc").write_text("int a;\nint b;\n")
    text = 'struct Host {\n#include "members.inc"\n};\n__device__ int at = __LINE__;\n'
    kept = device_code(tmp_path / "f.cu", text).text.split("\n")
    at = kept.index("__device__ int at = __LINE__;")
    assert kept[at - 3 : at] == ['#line 2 "f.cu"', "", ""]


def test_a_library_written_for_nvrtc_is_left_to_it(tmp_path):
    (tmp_path / "library" / "lib").mkdir(parents=True)
    (tmp_path / "library/lib/base.hpp").write_text("#ifdef __CUDACC_RTC__\n#endif\n#define LIB_DEVICE __device__\n")
    (tmp_path / "library/lib/main.hpp").write_text('#include "lib/base.hpp"\nint host();\n')
    text = "#include <lib/main.hpp>\nLIB_DEVICE int f() { return 1; }\n"
    code = device_code(tmp_path / "f.cu", text, [tmp_path / "library"])
    assert "#include <lib/main.hpp>\nLIB_DEVICE int f()" in code.text and code.folders == (tmp_path / "library",)
