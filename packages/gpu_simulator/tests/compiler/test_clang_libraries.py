"""Groups, tiles, libraries and instances of templates with clang. Where ziglang is missing these tests skip."""

import ml_dtypes
import numpy as np
import pytest
from by_clang import result, run, simulate

from gpu_simulator.compiler import CompileError, clang, libcudacxx

pytestmark = pytest.mark.skipif(not clang.installed(), reason="ziglang is not installed: pip install ziglang")
LANES = np.arange(32)

CG = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\n"
CG += "#include <cooperative_groups/memcpy_async.h>\nnamespace cg = cooperative_groups;\n"


def test_cooperative_groups():
    body = """auto block = cg::this_thread_block(); auto warp = cg::tiled_partition<32>(block); auto four = cg::tiled_partition<4>(warp);
  auto pair = cg::tiled_partition<64>(block);
  o[i] = cg::reduce(warp, i, cg::plus<int>()); o[128 + i] = cg::reduce(four, i, cg::greater<int>());
  o[256 + i] = cg::inclusive_scan(warp, 1); o[384 + i] = cg::exclusive_scan(four, i + 1, cg::plus<int>());
  o[512 + i] = cg::reduce(pair, i, cg::plus<int>()); o[640 + i] = four.shfl(i, 2) + 1000 * four.meta_group_rank();
  if (i % 3 == 0) { auto some = cg::coalesced_threads(); o[768 + i] = some.size() * 100 + some.thread_rank(); some.sync(); o[896 + i] = cg::reduce(some, i, cg::less<int>()); }
  auto odd = cg::binary_partition(warp, i % 2); o[1024 + i] = odd.size() * 100 + odd.thread_rank();
  cg::thread_group any = cg::tiled_partition(cg::thread_group(block), 16); o[1152 + i] = any.thread_rank() + 100 * any.size();
  __shared__ int s[128]; cg::memcpy_async(block, s, x, sizeof(int) * 128); cg::wait(block); o[1280 + i] = s[127 - i];"""
    x = np.random.default_rng(0).integers(0, 99, 128).astype(np.int32)
    got = result(body, np.int32, x, count=11 * 128, parameters="int* o, int* x", block=128, heads=CG).reshape(11, 128)
    i = np.arange(128)
    warp, four, third = i // 32 * 32, i // 4 * 4, i % 3 == 0
    firsts = np.array([min(k for k in range(w, w + 32) if k % 3 == 0) for w in warp])
    expected = [
        warp * 32 + 496, four + 3, i % 32 + 1, [sum(k + 1 for k in range(f, t)) for f, t in zip(four, i, strict=True)],
        i // 64 * 64 * 64 + 2016, four + 2 + 1000 * (i % 32 // 4),
        np.where(third, 100 * np.array([sum(k % 3 == 0 for k in range(w, w + 32)) for w in warp]) + (i - firsts) // 3, 0),
        np.where(third, firsts, 0), 1600 + i % 32 // 2, i % 16 + 1600, x[::-1],
    ]  # fmt: skip
    assert np.array_equal(got, np.array(expected))


def test_the_blocks_of_a_grid_meet():
    a, b = np.zeros(192, np.int32), np.zeros(192, np.int32)
    body = "auto grid = cg::this_grid(); int r = grid.thread_rank(), n = grid.size(); a[r] = r; grid.sync(); b[r] = a[n - 1 - r]; grid.sync(); a[r] = b[r];"
    report = run(body, a, b, parameters="int* a, int* b", block=64, grid=3, heads=CG)
    assert np.array_equal(a, np.arange(192)[::-1]) and not report.hazards
    assert run(
        body.replace("grid.sync();", "", 1), a, b, parameters="int* a, int* b", block=64, grid=3, heads=CG
    ).hazards


@pytest.mark.parametrize("extents", ["2, 1, 1", "PAIR"])
def test_blocks_of_a_cluster_read_each_other(extents):
    body = "auto cluster = cg::this_cluster(); __shared__ int s[32]; s[i] = 100 * cluster.block_rank() + i; cluster.sync();"
    body += "o[blockIdx.x * 32 + i] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[i]; cluster.sync();"
    head = f"__global__ void __cluster_dims__({extents}) __launch_bounds__(32) k(int* o)"
    source = f"{CG}constexpr int PAIR = 2;\n{head} {{ int i = threadIdx.x; {body} }}"
    o = np.zeros(64, np.int32)
    simulate(source, "k", 2, 32, [o], arch="sm_90a")
    assert np.array_equal(o, np.concatenate([100 + LANES, LANES]))


WMMA = """#include <mma.h>
using namespace nvcuda;
template <class T, class S, int M, int N, int K>
__global__ void k(const T* a, const T* b, S* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, S> fc;
  wmma::fill_fragment(fc, S(1));
  wmma::load_matrix_sync(fa, a, K);
  wmma::load_matrix_sync(fb, b, K);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
"""


@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 8, 16), (8, 32, 16), (8, 8, 4)])
@pytest.mark.parametrize(
    "of, sums, dtype, to",
    [
        ("half", "float", np.float16, np.float32), ("half", "half", np.float16, np.float16),
        ("__nv_bfloat16", "float", ml_dtypes.bfloat16, np.float32), ("signed char", "int", np.int8, np.int32),
        ("unsigned char", "int", np.uint8, np.int32), ("double", "double", np.float64, np.float64),
    ],
)  # fmt: skip
def test_wmma_of_every_type(of, sums, dtype, to, shape):
    if (of == "double") != (shape[2] == 4):
        return
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 5, (m, k)).astype(dtype), rng.integers(0, 5, (n, k)).astype(dtype), np.zeros((m, n), to)
    bits = [x.view(np.uint16) if dtype is ml_dtypes.bfloat16 else x for x in (a, b)]
    simulate(WMMA, f"k<{of}, {sums}, {m}, {n}, {k}>", 1, 32, [*bits, c])
    assert np.array_equal(c, 2 * (a.astype(int) @ b.astype(int).T + 1))


def test_the_library_of_std_and_cuda():
    body = """o[0] = std::min(3, 2) + std::max(1.5f, 0.5f); o[1] = std::numeric_limits<float>::max();
  if constexpr (std::is_same_v<std::remove_cv_t<const int>, int>) o[2] = 1; float a = 1, b = 2; std::swap(a, b); o[3] = a;
  auto [p, q] = std::make_pair(4.f, 5.f); o[4] = p * q; std::array<float, 2> both = {6, 7}; o[5] = both[1];
  cuda::atomic_ref<float, cuda::thread_scope_device> r(o[6]); r.fetch_add(2.f); o[7] = std::abs(-8.f) + (float)std::sqrt(4.0);"""
    heads = "#include <algorithm>\n#include <limits>\n#include <utility>\n#include <array>\n#include <cuda/atomic>\n"
    got = result(body, np.float32, count=8, parameters="float* o", block=1, heads=heads)
    assert np.array_equal(got, np.array([3.5, np.finfo(np.float32).max, 1, 2, 20, 7, 2, 10], np.float32))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_barriers_and_pipelines_of_cuda(arch):
    body = """__shared__ cuda::barrier<cuda::thread_scope_block> bar; __shared__ float s[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block(); if (i == 0) init(&bar, blockDim.x); block.sync();
  o[i] = i; bar.arrive_and_wait(); float there = o[63 - i]; bar.arrive_and_wait();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int n = 0, ahead = 0; n < 4; n++) {
    for (; ahead < 4 && ahead < n + 2; ahead++) {
      pipe.producer_acquire(); cuda::memcpy_async(block, s[ahead % 2], x + 64 * ahead, sizeof(float) * 64, pipe); pipe.producer_commit();
    }
    pipe.consumer_wait(); o[64 * n + i] = s[n % 2][63 - i] + (n ? 0 : there); pipe.consumer_release();
  }"""
    x = np.random.default_rng(0).integers(0, 99, 256).astype(np.float32)
    heads = "#include <cuda/barrier>\n#include <cuda/pipeline>\n#include <cooperative_groups.h>\n"
    expected = x.reshape(4, 64)[:, ::-1].copy()
    expected[0] += np.arange(64)[::-1]
    assert np.array_equal(
        result(body, np.float32, x, count=256, block=64, arch=arch, heads=heads).reshape(4, 64), expected
    )


# ---- Instances, and what is not there ----


def test_an_instance_of_a_template_is_launched_by_its_name():
    source = "template <typename T, int N = 3> __global__ void k(T* o) { o[threadIdx.x] = N; }\n"
    for name, dtype, value in (("k<float>", np.float32, 3), ("k<int, 7>", np.int32, 7)):
        o = np.zeros(4, dtype)
        simulate(source, name, 1, 4, [o])
        assert (o == value).all()
    explicit = source + "template __global__ void k<float, 5>(float*);\n"
    o = np.zeros(1, np.float32)
    simulate(explicit, "k<float, 5>", 1, 1, [o])
    assert o == 5
    with pytest.raises(CompileError, match="the kernel's name: error: k<int, float> names no kernel"):
        simulate(source, "k<int, float>", 1, 1, [o])


@pytest.mark.parametrize(
    "line, told",
    [
        ("half h;", "'half' is in a header that the source does not include: write #include <cuda_fp16.h>"),
        ("cooperative_groups::thread_block b;", "write #include <cooperative_groups.h>"),
        ("o[0] = __expff(1.f);", "this compiler does not have '__expff'; the nearest that it has is __expf"),
        ("std::vector<float> v;", "this compiler does not have 'std::vector'; of std:: there is"),
        ("curandState s;", "this compiler does not have 'curandState'; make the random numbers on the host"),
        ("o[0] = height;", "use of undeclared identifier 'height'"),
    ],
)
def test_a_name_of_cuda_that_is_missing_is_called_missing(line, told):
    with pytest.raises(CompileError) as error:
        run(line, np.zeros(1, np.float32), parameters="float* o")
    assert told in error.value.diagnostics[0].message and "NVRTC" not in str(error.value)


def test_only_the_headers_of_the_library_that_are_needed_are_handed_to_clang():
    generated = {"limits": "#include <cuda/std/limits>\n"}
    assert not libcudacxx.needed(["#include <cuda_fp16.h>\n"], generated)
    needed = libcudacxx.needed(["  # include <limits>\n"], generated)
    assert "cuda/std/limits" in needed and "cuda/barrier" not in needed
    assert all("SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" in text for text in needed.values())
    assert clang.has_header("cuda/barrier") and not clang.has_header("cub/cub.cuh")


def test_in_a_page_it_is_the_pages_compiler_that_lacks_a_name(monkeypatch):
    class Page:
        writes_ir = True

        def __call__(self, arguments, files):
            return 1, "", "source.cu:3:5: error: use of undeclared identifier '__nanosum'\n"

        def version(self):
            return "clang in a page"

    monkeypatch.setattr(clang, "_in_use", Page())
    with pytest.raises(CompileError, match="line 3: error: the page's compiler does not have '__nanosum'"):
        run("__nanosum();")
