"""Kernels that have nothing to do with GEMM: whole programs against NumPy."""

import numpy as np
import pytest

import gpu_simulator

HEAD = 'extern "C" __global__ void kernel'


def test_transpose_through_shared_memory(cuda, rng):
    source = (
        HEAD
        + """(const float* in, float* out, int w, int h) {
      __shared__ float tile[32][33];
      int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
      for (int j = 0; j < 32; j += 8) if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
      __syncthreads();
      x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
      for (int j = 0; j < 32; j += 8) if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
    }"""
    )
    a = rng.standard_normal((70, 100)).astype(np.float32)
    out = np.zeros((100, 70), np.float32)
    cuda(source, a, out, 100, 70, grid=(4, 3), block=(32, 8))
    assert np.array_equal(out, a.T)


def test_reduction_with_shuffles_and_atomics(cuda, rng):
    source = (
        HEAD
        + """(const int* in, int* total, int n) {
      __shared__ int partial[8];
      int sum = 0;
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
      for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
      if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
      __syncthreads();
      if (threadIdx.x < 8) {
        sum = partial[threadIdx.x];
        for (int d = 4; d; d >>= 1) sum += __shfl_xor_sync(0xff, sum, d);
        if (threadIdx.x == 0) atomicAdd(total, sum);
      }
    }"""
    )
    a = rng.integers(-1000, 1000, 12345).astype(np.int32)
    total = np.zeros(1, np.int32)
    cuda(source, a, total, len(a), grid=7, block=256)
    assert total[0] == a.sum()


def test_stencil_with_halo(cuda, rng):
    source = (
        HEAD
        + """(const float* in, float* out, int n) {
      __shared__ float s[128 + 4];
      int i = blockIdx.x * 128 + threadIdx.x, l = threadIdx.x + 2;
      s[l] = i < n ? in[i] : 0.f;
      if (threadIdx.x < 2) { s[threadIdx.x] = i >= 2 ? in[i - 2] : 0.f; s[l + 128] = i + 128 < n ? in[i + 128] : 0.f; }
      __syncthreads();
      if (i < n) out[i] = s[l - 2] + 2 * s[l - 1] + 3 * s[l] + 2 * s[l + 1] + s[l + 2];
    }"""
    )
    a = rng.integers(-9, 9, 1000).astype(np.float32)
    out = np.zeros_like(a)
    cuda(source, a, out, len(a), grid=8, block=128, observers=("hazards",)).raise_hazards()
    p = np.pad(a, 2)
    assert np.array_equal(out, p[:-4] + 2 * p[1:-3] + 3 * p[2:-2] + 2 * p[3:-1] + p[4:])


def test_histogram_with_shared_atomics(cuda, rng):
    source = (
        HEAD
        + """(const unsigned char* in, unsigned* bins, int n) {
      __shared__ unsigned local[64];
      for (int i = threadIdx.x; i < 64; i += blockDim.x) local[i] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i] % 64], 1u);
      __syncthreads();
      for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&bins[i], local[i]);
    }"""
    )
    a = rng.integers(0, 256, 5000).astype(np.uint8)
    bins = np.zeros(64, np.uint32)
    cuda(source, a, bins, len(a), grid=3, block=96, observers=("hazards",)).raise_hazards()
    assert np.array_equal(bins, np.bincount(a % 64, minlength=64))


def test_softmax_rows(cuda, rng):
    source = (
        HEAD
        + """(const float* in, float* out, int n) {
      const float* row = in + blockIdx.x * n;
      float top = -INFINITY, sum = 0;
      for (int i = threadIdx.x; i < n; i += 32) top = fmaxf(top, row[i]);
      for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
      for (int i = threadIdx.x; i < n; i += 32) sum += expf(row[i] - top);
      for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
      for (int i = threadIdx.x; i < n; i += 32) out[blockIdx.x * n + i] = expf(row[i] - top) / sum;
    }"""
    )
    source = source.replace("INFINITY", "__int_as_float(0x7f800000)")
    a = rng.standard_normal((5, 77)).astype(np.float32)
    out = np.zeros_like(a)
    cuda(source, a, out, 77, grid=5)
    e = np.exp(a - a.max(1, keepdims=True))
    assert np.allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


def test_scan_of_a_block(cuda, rng):
    source = (
        HEAD
        + """(const int* in, int* out) {
      extern __shared__ int s[];
      int t = threadIdx.x;
      s[t] = in[t];
      for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
      }
      out[t] = s[t];
    }"""
    )
    a = rng.integers(0, 100, 512).astype(np.int32)
    out = np.zeros_like(a)
    cuda(source, a, out, block=512, dynamic_smem_bytes=2048, observers=("hazards",)).raise_hazards()
    assert np.array_equal(out, np.cumsum(a))


@pytest.mark.parametrize(("kind", "layout_b"), [("half", "col"), ("half", "row"), ("__nv_bfloat16", "col")])
def test_wmma_tile(cuda, rng, kind, layout_b):
    source = (
        f"#include <mma.h>\n#include <cuda_bf16.h>\nusing namespace nvcuda; {HEAD}"
        + """(const KIND* a, const KIND* b, float* d, int k) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, KIND, wmma::row_major> fa;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, KIND, wmma::LAYOUT_major> fb;
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
      __shared__ KIND s[256];
      wmma::fill_fragment(acc, 1.0f);
      for (int i = 0; i < k; i += 16) {
        for (int j = threadIdx.x; j < 256; j += 32) s[j] = a[j / 16 * k + i + j % 16];
        __syncwarp();
        wmma::load_matrix_sync(fa, s, 16);
        wmma::load_matrix_sync(fb, b + (STEP), LD);
        wmma::mma_sync(acc, fa, fb, acc);
        __syncwarp();
      }
      for (int i = 0; i < acc.num_elements; i++) acc.x[i] *= 2;
      wmma::store_matrix_sync(d, acc, 16, wmma::mem_row_major);
    }""".replace("KIND", kind)
        .replace("LAYOUT", layout_b)
        .replace("STEP", "i * 16" if layout_b == "row" else "i")
        .replace("LD", "16" if layout_b == "row" else "k")
    )
    bits = bf16_bits if "bf" in kind else lambda x: x.astype(np.float16)
    a, b = rng.integers(-4, 5, (16, 64)), rng.integers(-4, 5, (64, 16))
    d = np.zeros((16, 16), np.float32)
    cuda(source, bits(a), bits(np.ascontiguousarray(b if layout_b == "row" else b.T)), d, 64)
    assert np.array_equal(d, 2 * (a @ b + 1))


def bf16_bits(x):
    return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)


PIPELINE = (
    "#include <cuda_pipeline.h>\n"
    + HEAD
    + """(const int4* in, int* out, int tiles) {
      __shared__ int4 s[3][64];
      int t = threadIdx.x, sum = 0;
      for (int p = 0; p < 2; p++) { __pipeline_memcpy_async(&s[p][t], &in[p * 64 + t], 16); __pipeline_commit(); }
      for (int i = 0; i < tiles; i++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        int4 v = s[i % 3][63 - t];
        sum += v.x + v.y * 2 + v.z * 3 + v.w * 4;
        if (i + 2 < tiles) __pipeline_memcpy_async(&s[(i + 2) % 3][t], &in[(i + 2) * 64 + t], 16);
        __pipeline_commit();
      }
      out[t] = sum;
    }"""
)


@pytest.mark.parametrize("timing", ["early", "late"])
def test_cp_async_pipeline(cuda, rng, timing):
    a = rng.integers(-99, 99, (8, 64, 4)).astype(np.int32)
    out = np.zeros(64, np.int32)
    cuda(PIPELINE, a, out, 8, block=64, timing=timing, observers=("hazards",)).raise_hazards()
    assert np.array_equal(out, (a[:, ::-1] * [1, 2, 3, 4]).sum((0, 2)))


def test_cp_async_fills_with_zeros(cuda):
    source = (
        "#include <cuda_pipeline.h>\n"
        + HEAD
        + """(const int* in, int* out) {
      __shared__ int4 s[32];
      s[threadIdx.x] = make_int4(9, 9, 9, 9);
      __pipeline_memcpy_async(&s[threadIdx.x], (const int4*)in + threadIdx.x, 16, threadIdx.x % 5 < 4 ? threadIdx.x % 5 * 4 : 16);
      __pipeline_commit(); __pipeline_wait_prior(0);
      ((int4*)out)[threadIdx.x] = s[threadIdx.x];
    }"""
    )
    a = np.arange(1, 129, dtype=np.int32).reshape(32, 4)
    out = np.zeros_like(a)
    cuda(source, a, out)
    zeros = np.array([min(t % 5, 4) if t % 5 < 4 else 4 for t in range(32)])
    assert np.array_equal(out, np.where(np.arange(4) < 4 - zeros[:, None], a, 0))


def test_device_functions_that_are_not_inlined(cuda):
    source = (
        """struct Pair { int a; float b; double c[2]; };
    __device__ __noinline__ float weigh(Pair p, float x) { return p.a * x + p.b + (float)p.c[threadIdx.x % 2]; }
    __device__ __noinline__ Pair make(int i) { Pair p; p.a = i; p.b = i * 0.5f; p.c[0] = 100; p.c[1] = 200; return p; }
    __device__ __noinline__ int twice(int x) { if (x < 0) return -1; return weigh(make(x), 2.0f) > 0 ? 2 * x : x; }
    """
        + HEAD
        + "(float* out, int* n) { int i = threadIdx.x; out[i] = weigh(make(i), 3.0f); n[i] = twice(i - 3); }"
    )
    out, n = np.zeros(32, np.float32), np.zeros(32, np.int32)
    cuda(source, out, n)
    i = np.arange(32)
    assert np.array_equal(out, i * 3 + i * 0.5 + np.where(i % 2, 200, 100))
    assert np.array_equal(n, np.where(i < 3, -1, 2 * (i - 3)))


def test_assert_names_its_line(cuda):
    source = (
        """
    extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
    #define check(x) ((x) ? (void)0 : __assertfail(#x, "here.cu", 42, "kernel", 1))
    """
        + HEAD
        + "(int n) { check(threadIdx.x < n); }"
    )
    with pytest.raises(gpu_simulator.AssertionFailed, match=r"here.cu:42.*thread \(5, 0, 0\).*threadIdx.x < n"):
        cuda(source, 5)
    cuda(source, 32)


def test_vote_ballot_and_match(cuda, rng):
    source = (
        HEAD
        + """(const int* in, unsigned* out) {
      int v = in[threadIdx.x];
      out[threadIdx.x] = __ballot_sync(~0u, v & 1);
      out[32 + threadIdx.x] = __any_sync(~0u, v == 77) + 2 * __all_sync(~0u, v < 100);
      out[64 + threadIdx.x] = __match_any_sync(~0u, v % 4);
      if (v & 1) out[96 + threadIdx.x] = __activemask();
      out[128 + threadIdx.x] = __popc(v) + __clz(v) * 100 + __brev(v) % 7 + __ffs(v);
      out[160 + threadIdx.x] = __reduce_add_sync(~0u, v);
    }"""
    )
    a = rng.integers(0, 100, 32).astype(np.int32)
    out = np.zeros((6, 32), np.uint32)
    cuda(source, a, out)
    bit = np.uint32(1) << np.arange(32, dtype=np.uint32)
    ballot = bit[a % 2 == 1].sum(dtype=np.uint32)
    assert (out[0] == ballot).all() and (out[1] == int((a == 77).any()) + 2).all()
    assert np.array_equal(out[2], [bit[a % 4 == v % 4].sum(dtype=np.uint32) for v in a])
    assert np.array_equal(out[3], np.where(a % 2, ballot, 0))
    brev = np.array([int(f"{v:032b}"[::-1], 2) for v in a])
    ffs = np.array([(int(v) & -int(v)).bit_length() for v in a])
    expected = [
        bin(v).count("1") + (32 - int(v).bit_length()) * 100 + r % 7 + f for v, r, f in zip(a, brev, ffs, strict=True)
    ]
    assert np.array_equal(out[4], expected) and (out[5] == a.sum()).all()


def test_local_array_with_a_runtime_index(cuda, rng):
    source = (
        HEAD
        + """(const int* in, int* out, int n) {
      int stack[16];
      for (int i = 0; i < 16; i++) stack[i] = in[threadIdx.x * 16 + i];
      for (int i = 1; i < n; i++) { int v = stack[i], j = i; while (j > 0 && stack[j - 1] > v) { stack[j] = stack[j - 1]; j--; } stack[j] = v; }
      for (int i = 0; i < 16; i++) out[threadIdx.x * 16 + i] = stack[i];
    }"""
    )
    a = rng.integers(-50, 50, (64, 16)).astype(np.int32)
    out = np.zeros_like(a)
    cuda(source, a, out, 16, block=64)
    assert np.array_equal(out, np.sort(a, axis=1))


def test_struct_parameter(cuda):
    source = (
        "struct Job { int n; short k[3]; float* out; double scale; unsigned char flags[5]; };\n"
        + HEAD
        + """(Job job, int bias) {
      if (threadIdx.x < job.n) job.out[threadIdx.x] = job.k[threadIdx.x % 3] * job.scale + job.flags[threadIdx.x % 5] + bias;
    }"""
    )
    import struct

    job = struct.pack("<i3h6xQd5B3x", 7, 1, -2, 3, 0, 0.5, 10, 20, 30, 40, 50)
    with pytest.raises(gpu_simulator.MemoryFault, match="null pointer"):
        cuda(source, job, 3)
    with pytest.raises(gpu_simulator.SimulatedFault.__mro__[1], match="bytes"):
        cuda(source, job[:-1], 3)


def test_module_variables(cuda):
    source = (
        """__constant__ float table[4] = {1.5f, 2.5f, 3.5f, 4.5f}; __device__ int counter = 5; __device__ int* where = &counter;
    __device__ const char* names[2] = {"ab", "cd"};
    """
        + HEAD
        + """(float* out, int* n) { out[threadIdx.x] = table[threadIdx.x % 4]; n[threadIdx.x] = atomicAdd(where, 1) + names[threadIdx.x % 2][1];
    }"""
    )
    out, n = np.zeros(32, np.float32), np.zeros(32, np.int32)
    cuda(source, out, n)
    assert np.array_equal(out, [1.5, 2.5, 3.5, 4.5] * 8)
    assert np.array_equal(n, 5 + np.arange(32) + np.where(np.arange(32) % 2, ord("d"), ord("b")))


def test_generic_pointers_of_three_spaces(cuda):
    source = (
        "__device__ __noinline__ int first(const int* p) { return p[0] + p[1]; }\n"
        + HEAD
        + """(int* g, int* out, int k) {
      __shared__ int s[2]; int l[2]; l[0] = threadIdx.x; l[1] = k;
      if (threadIdx.x == 0) { s[0] = 10; s[1] = 20; }
      __syncthreads();
      const int* p = threadIdx.x % 3 == 0 ? g : threadIdx.x % 3 == 1 ? s : l;
      out[threadIdx.x] = first(p);
    }"""
    )
    g, out = np.array([100, 200], np.int32), np.zeros(32, np.int32)
    cuda(source, g, out, 5)
    t = np.arange(32)
    assert np.array_equal(out, np.where(t % 3 == 0, 300, np.where(t % 3 == 1, 30, t + 5)))


def test_blocks_that_are_not_whole_warps(cuda):
    source = (
        HEAD
        + """(int* out) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads();
      out[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x]; }"""
    )
    out = np.zeros((3, 33), np.int32)
    cuda(source, out, grid=3, block=33)
    assert np.array_equal(out, np.tile(np.arange(32, -1, -1), (3, 1)))


def test_spin_lock_between_blocks(cuda):
    source = (
        HEAD
        + """(int* lock, int* sum) {
      if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) { }
        *(volatile int*)sum += blockIdx.x; __threadfence();
        atomicExch(lock, 0);
      }
    }"""
    )
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    cuda(source, lock, total, grid=20, max_instructions=10_000_000)
    assert total[0] == 190 and lock[0] == 0


@pytest.mark.parametrize("block", [32, 27])
def test_a_function_chooses_one_of_its_parameters_by_address(cuda, block):
    source = """
    struct Four { int x[4]; };
    __device__ __noinline__ int larger(int a, int b, int c) { const int& chosen = c > 3 ? a : b; return chosen; }
    """ + HEAD + """(int* out, const __grid_constant__ Four four) {
      int i = threadIdx.x;
      out[i] = larger(i, -i, out[i] + i) + four.x[i & 3];
    }"""  # fmt: skip
    out, four = np.zeros(block, np.int32), np.arange(100, 500, 100, dtype=np.int32)
    cuda(source, out, four.tobytes(), block=block, arch="sm_120")
    i = np.arange(block)
    assert np.array_equal(out, np.where(i > 3, i, -i) + four[i & 3])
