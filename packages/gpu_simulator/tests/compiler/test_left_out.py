"""Which declarations of a file with host code a kernel can use, and what is said where it uses one that was left out."""

import numpy as np
import pytest
from compiling import need_compiler

from gpu_simulator import UnsupportedInstruction, simulate
from gpu_simulator.compiler import CompileError, nvrtc_library
from gpu_simulator.compiler.device_code import device_code

need_compiler()
K = "__global__ void k(float* x) {"  # a kernel whose first element is compared


def first(source: str, kernel: str = "k", **options) -> float:
    """What a kernel of one thread writes into the first element of an array of zeros."""
    numbers = np.zeros(4, np.float32)
    simulate(source, kernel, args=[numbers], **options)
    return float(numbers[0])


def refused(source: str, kernel: str = "k", **options) -> str:
    with pytest.raises(CompileError) as error:
        first(source, kernel, **options)
    return str(error.value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # Constants of the file: with a suffix, from constants of the library, from one another.
        (f"static const float MOST = 65504.F;\n{K} x[0] = MOST; }}", 65504),
        (f"const float LEAST = -FLT_MAX, HALF = .5f;\n{K} x[0] = LEAST < 0 ? HALF : 1; }}", 0.5),
        (f"static const float A[2] = {{2.F, 3}}, E = 8;\nconst double B = -E / 4, C[] = {{B, 3.5}};\n{K} x[0] = A[1] * C[0] + C[1]; }}", -2.5),
        (f"constexpr int A = 2;\nnamespace n {{ enum {{ C = 3 }}; static const double B = 0x1p4 * A * C; }}\n{K} x[0] = n::B; }}", 96),
        (f"static const float X(1e-1f);\nconst float Y{{2}};\nconst double Z(-X * 2.F);\nconst float of(float);\nconst float none();\n{K} x[0] = Z < -.1f ? Y : 0; }}", 2),
        (f"const float X(.5f);\nstatic const int N(3);\n{K} x[0] = X * N; }}", 1.5),
        (f"#define EDGE 4\nconst double AREA = EDGE * EDGE;\n{K} x[0] = AREA; }}", 16),
        # Aliases of types of headers that are not here, and classes with such members.
        (f"#include <cublas_v2.h>\nusing handle_t = cublasHandle_t;\ntypedef cudnnDescriptor_t desc_t;\n{K} x[0] = 1; }}", 1),
        (f"#include <curl.h>\nstruct Work {{ CURL* link; char error[CURL_ERROR_SIZE]; }};\nextern Work work;\n{K} x[0] = 1; }}", 1),
        (f"#include <curl.h>\ntypedef int (*call)(CURL*, int);\nstatic_assert(sizeof(call) == 8, \"\");\n{K} x[0] = 1; }}", 1),
        (f"template <class T> struct Of {{ using type = T; }};\ntemplate <> struct Of<short> {{ using type = float; }};\n"
         f"{K} Of<short>::type a = 0.5f; x[0] = a; }}", 0.5),
        (f"template <class T> constexpr int of = 1;\ntemplate <> constexpr int of<float> = 2;\n{K} x[0] = of<float>; }}", 2),
        (f"template <int N> constexpr int of() {{ return 1; }}\ntemplate <> constexpr int of<sizeof(int)>() {{ return 2; }}\n"
         f"{K} x[0] = of<4>(); }}", 2),
        (f"#define API\nclass API Base {{ public: static constexpr int n = 2; }};\n__device__ struct : public Base {{ public: int m; }} last;\n{K} x[0] = last.n; }}", 2),
        ("struct Two { static constexpr int n = 2; };\ntemplate <class T> __global__ void k(float* x) { x[0] = T::n; }", 2),
        (f"enum Kind {{ NONE, LAST = 7 }};\n#define LAST_KIND LAST\n{K} x[0] = LAST_KIND; }}", 7),
        (f"struct Half {{ float of; }};\n#define JOINED(a, b) a##b\n{K} JOINED(Ha, lf) h = {{0.5f}}; x[0] = h.of; }}", 0.5),
        # Explicit instantiations by macros: of host templates they go, of kernels they stay.
        ("template <class T> __global__ void k(T* x) { x[0] = 3; }\ntemplate <class T> void launch(T* x) { k<T><<<1, 1>>>(x); }\n"
         "#define ONE(T) template void launch<T>(T*);\n#define ALL(T, U) ONE(T) \\\n  ONE(U)\nALL(float, int)\nONE(double);\n", 3),
        ("template <class T> void launch(T* x) { }\n#define FOR(T) template void launch(T*)\nFOR(int);\nFOR(float);\n"
         f"#define ALSO(T) static __device__ T of(T a) {{ return a + 1; }}\nALSO(float)\n{K} x[0] = of(4.f); }}", 5),
        # An #if that cuts a declaration, or that opens a brace in each branch.
        ("int gemm(int m,\n#if defined(HIP) && \\\n    (VERSION < 2)\n  int a = 1);\n#elif OTHER\n  long a);\n#else\n  int a = 2);\n#endif\n"
         f"{K} x[0] = 6; }}", 6),
        ("#ifdef _WIN32\nstatic int\n#else\nint\n#endif\nhost(int a)\n{ return a; }\n" + K + " x[0] = 6; }", 6),
        (f"{K}\n#if __CUDA_ARCH__ >= 700\n  if (x[0] == 0) {{\n#else\n  for (;;) {{\n#endif\n    x[0] = 7;\n  }}\n}}\n"
         "__host__ void go(float* x) { k<<<1, 1>>>(x); }", 7),
        # Branches that open a different number of braces.
        *((f"{K}\n#if {one}\n  if (x[0] == 0) {{\n#else\n  for (int i = 0; i < 2; i++) {{ if (i) {{\n#endif\n    x[0] = 7;\n  }}\n"
           f"#if {other}\n  }}\n#endif\n}}\nint main() {{ k<<<1, 1>>>(0); std::cout; }}", 7)
          for one, other in (("__CUDA_ARCH__ >= 700", "!(__CUDA_ARCH__ >= 700)"), ("__CUDA_ARCH__ < 700", "__CUDA_ARCH__ >= 700"))),
        (f"{K}\n#if __CUDA_ARCH__\n  if (x[0] == 0) {{ {{\n#else\n  {{\n#endif\n    x[0] = 9;\n  }}\n#ifdef __CUDA_ARCH__\n  }}\n#endif\n}}\n"
         "int main() { k<<<1, 1>>>(0); }", 9),
        (f"#if 0  // old\nint main() {{ it's\n#endif\n#if 0 || 1\n{K} x[0] = 8; }}\n#endif\n#if 0\n}}\n#else\nint main() {{ k<<<1, 1>>>(0); }}\n#endif", 8),
        # Words before a class.
        (f"__align__(8) struct Pair {{ int n; float x; }};\n__device__ Pair of() {{ return {{1, 2.f}}; }}\n{K} x[0] = of().x; }}", 2),
        (f"__attribute__((aligned(16))) union Word {{ int n; float x; }};\n{K} Word w; w.x = 3; x[0] = w.x; }}", 3),
        # What a header of the host declares for device code, and names of GNU C and of the C library.
        ("#include <torch/extension.h>\ntemplate <class T> __device__ float of(T a) { return a; }\n"
         f"template <> __device__ float of<at::Half>(at::Half a) {{ return a; }}\n{K} x[0] = of(4.f); }}", 4),
        (f"#include <sys/types.h>\n{K} off_t at = 0; float a; __asm__ __volatile__(\"mov.f32 %0, 0f40A00000;\" : \"=f\"(a)); x[at] = a; }}", 5),
        # An instance of a template that the file itself instantiates for other types, too.
        ("template <class T, int N> __global__ void k(T* x) { x[0] = N; }\ntemplate __global__ void k<float, 1>(float*);\n"
         "template __global__ void k<float, 2>(float*);", 2),
    ],
)  # fmt: skip
def test_a_kernel_has_what_it_uses_and_nothing_that_only_the_host_does(source, expected):
    template = "<Two>" if "struct Two" in source else "<float, 2>" if "int N" in source else "<float>"
    kernel = "k" + template * ("> __global__ void k" in source)
    assert first(source, kernel) == expected


def test_directives_stay_where_only_a_part_of_them_is_left_out(tmp_path):
    text = "#if A\nint host(\n#else\nlong host(\n#endif\n  int a) { return a; }\n__device__ int one;\n#if A\nint b();\n#endif\n"
    body = device_code(tmp_path / "f.cu", text).text.partition('#line 1 "f.cu"\n')[2]
    assert body == "#if A\n\n#else\n\n#endif\n\n__device__ int one;\n#if A\n\n#endif\n"


@pytest.mark.parametrize(
    ("host", "use", "line"),
    [
        ("#include <vector>\n\nfloat twice(float a) { return 2 * a; }", "twice(x[1])", 3),
        ("float scale = 2;\nnamespace u {\nfloat table[4]; }", "u::table[0]", 3),
        ("template <class T>\nT of(T a);", "of(1.f)", 1),
    ],
)
def test_an_error_says_which_line_was_left_out_as_host_code(host, use, line):
    assert f"left out as host code: your line {line} of source.cu" in refused(f"{host}\n{K} x[0] = {use}; }}")
    assert "left out as host code" not in refused(f"{host}\n{K} x[0] = missing; }}")


def test_only_the_kernel_that_needs_what_was_left_out_is_refused():
    source = (
        "#include <vector>\nstruct Work { std::vector<int> list; float scale; };\n"
        "__device__ float of(Work* w) { return w->scale; }\n__device__ float two() { return 2; }\n"
        "__global__ void uses(Work* w, float* x) { x[0] = of(w); }\ntemplate <class T> __global__ void t(T* x) { x[0] = 3; }\n"
        f"{K} x[0] = two(); }}"
    )
    assert [first(source, kernel) for kernel in ("k", "_Z1kPf", "t<float>")] == [2, 2, 3]
    assert "left out as host code: your line 2" in refused(source, "uses")
    assert '"too" is undefined' in refused(source.replace("= two()", "= too()"), "k")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (f"{K}\n  x[0] = __shfl_down(x[0], 1); }}", "__shfl_down_sync(0xffffffff"),
        (f"{K}\n  x[0] = __ballot(x[0] > 0); }}", "__ballot_sync(0xffffffff"),
        (f"{K}\n  x[0] = __any(x[0] > 0); }}", "__any_sync(0xffffffff"),
        (f"texture<float, 1> t; {K}\n  x[0] = tex1Dfetch(t, 0); }}", "Give the kernel an array as a pointer"),
        (f"__global__ void child(float* x) {{ }} {K}\n  child<<<1, 1>>>(x); }}", "let the host launch the second kernel after the first"),
        (f"#include <cuda_device_runtime_api.h>\n__global__ void child(float*); {K} child<<<1, 1>>>(x); }}", "let the host launch"),
        (f"{K}\n  cudaDeviceSynchronize(); }}", "cudaDeviceSynchronize is a function for the host"),
        (f"{K}\n  cudaMalloc(&x, 4); }}", "cudaMalloc is a function for the host; in a kernel write malloc"),
    ],
)  # fmt: skip
def test_what_is_not_simulated_is_refused_at_the_users_line(source, says):
    said = refused(source)
    assert says in said and "source.cu, line 2" in said


@pytest.mark.parametrize(
    "read", ["tex2D<float>(t, 0.5f, 0.5f)", "tex1Dfetch<float>(t, 0)", "surf2Dread<float>(t, 0, 0)"]
)
def test_a_texture_object_is_refused_at_the_line_that_reads_it(read):
    source = f"__device__ float of(unsigned long long t) {{\n  return {read}; }}\n"
    at_line = r"^source\.cu:2 .*called from line 3\).*Give the kernel an array as a pointer"
    with pytest.raises(UnsupportedInstruction, match=at_line):
        first(f"{source}{K} x[0] = of(1); }}")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("template <class T> __global__ void k(T* x) {}\ntemplate <class T> __global__ void k(T* x, int n) {}", "several kernels called k (lines 1, 2) differ"),
        ("template <class T, int N> __global__ void k(T* x) {}", "it does not give each parameter of the template k"),
        ("template <class T, class U = Missing> __global__ void k(T* x) {}", "Missing"),
    ],
)  # fmt: skip
def test_a_name_that_fits_no_instance_is_told_apart(source, says):
    assert says in refused(source, "k<float>")


def test_the_toolkits_own_folder_may_be_named_as_an_include_folder():
    source = f"#include <cooperative_groups.h>\n{K} x[0] = cooperative_groups::this_thread_block().size(); }}"
    assert first(source, include=nvrtc_library.toolkit_includes()) == 1
