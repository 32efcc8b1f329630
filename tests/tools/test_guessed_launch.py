"""What the live page guesses of a launch: the program's own where there is one, else sizes that the kernel touches."""

import json
import sys

import pytest

from gpu_simulator.compiler import nvrtc
from tools.live import build

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
TRANSPOSE = """#define TILE 32
__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}"""
SOFTMAX = """__global__ void rows(const float* x, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols; i += 32) y[blockIdx.x * cols + i] = row[i];
}"""
SCALE = f"__global__ void scale(float* x, float s, float t, int n) {{ {INDEX} if (i < n) x[i] = s * x[i] + t; }}"
SUM = f"""__global__ void sum(const float* y, float* out, int n) {{
  extern __shared__ float s[];
  {INDEX} int t = threadIdx.x;
  s[t] = i < n ? y[i] : 0.f;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {{ if (t < k) s[t] += s[t + k]; __syncthreads(); }}
  if (t == 0) out[blockIdx.x] = s[0];
}}"""
STRUCT = f"""struct Params {{ float alpha, beta; int n; int stride; }};
__global__ void axpby(const float* x, float* y, Params p) {{
  {INDEX} if (i < p.n) y[i * p.stride] = p.alpha * x[i] + p.beta * y[i * p.stride];
}}"""
PROGRAM = f"""constexpr int BLOCK = 128;
#define UP(a, b) (((a) + (b) - 1) / (b))
{SCALE}
int main(int argc, char** argv) {{
  const int n = 1000;
  float* d;
  CHECK(cudaMalloc((void**)&d, n * sizeof(float)));
  dim3 block(BLOCK);
  scale<<<UP(n, BLOCK), block>>>(d, 2.5f, -1.0f, n);
}}"""


@pytest.fixture(scope="module")
def lab_page():
    """The module of the page, with the compiler that is here."""
    sys.path.insert(0, str(build.PAGE))
    try:
        import lab_page

        nvrtc.use_stored(None)
        yield lab_page
    finally:
        sys.path.remove(str(build.PAGE))


def guess(lab_page, source):
    (found,) = json.loads(lab_page.kernels(source))
    return found


def run(lab_page, source, **change):
    found = guess(lab_page, source)
    launch = {"kernel": found["name"], "args": found["words"], **{key: found[key] for key in ("grid", "block", "more")}}
    return json.loads(lab_page.run(json.dumps({"name": "own/yours", "source": source, "launch": launch | change})))


@pytest.mark.parametrize(
    "source, grid, block, words",
    [
        (TRANSPOSE, "2,2", "32,8", ["f32:?:random", "f32:?", "64", "64"]),
        (SOFTMAX, "4", "32", ["f32:?:random", "f32:?", "128"]),
        (SCALE, "4", "256", ["f32:?", "2.0", "3.0", "1000"]),
        (SUM, "4", "256", ["f32:?:random", "f32:?", "1000"]),
        (STRUCT, "4", "256", ["f32:?:random", "f32:?", "{2.0, 3.0, 64, 64}"]),
        ("struct V { int n; double d; float4 v; const float* p; }; __global__ void k(V v) {}", "1", "256",
         ["{256, f64=2.0, 3.0, 4.0, 5.0, 6.0, f32:?:random, 0, 0}"]),
        ("template <int T> __global__ void k(float* x) { x[blockIdx.x * T + threadIdx.x] = 1; }", "4", "16", ["f32:?"]),
        ("__global__ __launch_bounds__(96) void k(float* x) { x[threadIdx.x] = 1; }", "1", "96", ["f32:?"]),
        ("__global__ void k(int* x) { __shared__ int s[1 << 6]; int t = threadIdx.x; s[t] = x[t]; }", "1", "64",
         ["i32:?"]),
        ("#include <mma.h>\n__global__ void k(half* x) { wmma::load_matrix_sync(a, x, 16); }", "1", "32", ["f16:?"]),
        (PROGRAM, "8", "128", ["f32:1000:?", "2.5", "-1.0", "1000"]),
        (PROGRAM.replace("= 1000", "= atoi(argv[1])"), "4", "128", ["f32:?", "2.5", "-1.0", "1000"]),
        (PROGRAM.replace("= 1000", "= 1 << 24"), "4", "128", ["f32:?", "2.0", "3.0", "1000"]),
    ],
)  # fmt: skip
def test_a_launch_is_guessed_from_the_text(lab_page, source, grid, block, words):
    found = guess(lab_page, source)
    assert (found["grid"], found["block"], found["words"]) == (grid, block, words)
    assert found["more"] == ("--smem ?" if source is SUM else "")


def test_where_the_launch_is_from_is_said(lab_page):
    read, partly, large = (guess(lab_page, PROGRAM.replace("= 1000", f"= {n}"))
                           for n in ("1000", "atoi(argv[1])", "1 << 24"))  # fmt: skip
    assert read["says"].startswith("main() is not run") and "line 9 stands here." in read["says"]
    assert "but for grid, n, which cannot be read" in partly["says"] and "too large" in large["says"]
    assert (read["guesses"], partly["guesses"], large["guesses"]) == ([], [0, 3], [0, 1, 2, 3])
    assert "guessed from the text" in guess(lab_page, SCALE)["says"]
    assert guess(lab_page, SCALE.removesuffix("}").replace(" if", "\n if"))["words"][3] == "1000", "half a text"


@pytest.mark.parametrize(
    "source, shapes",
    [
        (TRANSPOSE, ["float32 64 × 64", "float32 64 × 64"]),
        (SOFTMAX, ["float32 4 × 128", "float32 4 × 128"]),
        (SUM, ["float32 1,000", "float32 4"]),
        (STRUCT, ["float32 64", "float32 64 × 64"]),
        (PROGRAM, ["float32 1,000"]),
        ("__global__ void k(const int* x, int* y) { atomicAdd(&y[x[threadIdx.x]], 1); }", ["int32 256", "int32 1,024"]),
        ("__global__ void k(float4* x, double* y) { y[threadIdx.x] = x[2 * threadIdx.x].w; }",
         ["float32 512 × 4", "float64 256"]),
    ],
)  # fmt: skip
def test_arrays_are_as_large_as_what_the_kernel_touches(lab_page, source, shapes):
    answer = run(lab_page, source)
    assert answer["verdict"] == "It ran to its end." and [one[1] for one in answer["arrays"]] == shapes


def test_what_is_read_first_is_random_and_what_is_only_written_begins_with_zeros(lab_page):
    def changed(body, kind="float"):
        source = f"__global__ void k({kind}* x) {{ int i = threadIdx.x; {body} }}"
        return run(lab_page, source, more="--print 0[0:4]")["printed"][0].partition("= ")[2]

    assert (
        changed("if (i) x[i] = 1.f;") == "[0., 1., 1., 1.]" and changed("atomicAdd(x + i, 1.f);") == "[1., 1., 1., 1.]"
    )
    assert changed("x[i] = x[i] != 0.f;") == "[1., 1., 1., 1.]" and changed("x[i] = 3 * x[i];", "int") == "[0, 3, 6, 9]"


@pytest.mark.parametrize("body", ["if (i <= n) x[i] = 1;", "x[i + 4] = 1;"])
def test_a_kernel_that_goes_too_far_is_stopped_and_what_is_guessed_is_said_first(lab_page, body):
    source = f"__global__ void k(float* x, int n) {{ {INDEX} {body} }}"
    answer = run(lab_page, source)
    size = "1,000" if "n)" in body else "1,024"
    first, second = answer["notes"]
    assert answer["verdict"] == "The kernel was stopped." and f"x has {size} elements" in first["text"]
    assert "past the end of" in second["text"]
    (alone,) = run(lab_page, source, args=["f32:512", "512"])["notes"]
    assert "past the end of" in alone["text"], "nothing is a guess any more"
    other = f"__global__ void k(const float* a, float* x) {{ {INDEX} x[i] = a[i]; }}"
    (alone,) = run(lab_page, other, args=["f32:512", "f32:?"])["notes"]
    assert "past the end of a" in alone["text"], "and the size of x has nothing to do with it"


def test_a_kernel_without_an_end_ends_at_its_limit(lab_page, monkeypatch):
    monkeypatch.setattr(sys.modules["touched"], "SECONDS", 0.1)
    answer = run(lab_page, "__global__ void k(volatile int* x) { while (x[0] == 0) { } }", more="--max-seconds 0.1")
    assert "longer than its limit" in answer["notes"][0]["text"]
