"""Lanes, warps and fragments working together: divergence, roles, pointers to functions, tensor instructions."""

import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.hardware.mma_layouts import Mma

HEAD = 'extern "C" __global__ void kernel'


def test_shuffles_in_divergent_halves_of_a_warp(cuda):
    source = (
        HEAD
        + """(int* o) {
      int t = threadIdx.x, v = t;
      if (t % 2) v = __shfl_sync(0xaaaaaaaa, v, 5) + __popc(__ballot_sync(0xaaaaaaaa, t > 10));
      else v = __shfl_down_sync(0x55555555, v, 2);
      __syncwarp();
      o[t] = v + __shfl_xor_sync(~0u, v, 1);
    }"""
    )
    out, t = np.zeros(32, np.int32), np.arange(32)
    cuda(source, out)
    v = np.where(t % 2, 5 + 11, np.where(t + 2 < 32, t + 2, t))
    assert np.array_equal(out, v + v[t ^ 1])


def test_producers_and_consumers_with_named_barriers(cuda):
    source = (
        HEAD
        + """(int* o) {
      __shared__ int s[128];
      for (int i = 0; i < 4; i++) {
        if (threadIdx.x < 128) {
          asm volatile("bar.sync 2, 256;" ::: "memory");
          s[threadIdx.x] = i * 1000 + threadIdx.x;
          asm volatile("bar.arrive 1, 256;" ::: "memory");
        } else {
          asm volatile("bar.arrive 2, 256;" ::: "memory");
          asm volatile("bar.sync 1, 256;" ::: "memory");
          o[(blockIdx.x * 4 + i) * 128 + threadIdx.x - 128] = s[255 - threadIdx.x];
        }
      }
    }"""
    )
    out = np.zeros((2, 4, 128), np.int32)
    cuda(source, out, grid=2, block=256, observers=("hazards",)).raise_hazards()
    assert np.array_equal(out, [np.arange(4)[:, None] * 1000 + 127 - np.arange(128)] * 2)


def test_barriers_that_reduce(cuda, rng):
    source = (
        HEAD
        + """(int* o, const int* in) {
      int v = in[blockIdx.x * blockDim.x + threadIdx.x];
      int c = __syncthreads_count(v > 3), a = __syncthreads_and(v >= 0), b = __syncthreads_or(v == 77);
      o[blockIdx.x * blockDim.x + threadIdx.x] = c * 4 + a * 2 + b;
    }"""
    )
    a = rng.integers(0, 10, (2, 96)).astype(np.int32)
    a[1, 5] = 77
    out = np.zeros_like(a)
    cuda(source, out, a, grid=2, block=96)
    assert np.array_equal(out, np.repeat((a > 3).sum(1) * 4 + [2, 3], 96).reshape(2, 96))


def test_threads_that_leave_early(cuda):
    source = (
        HEAD
        + """(int* o, int n) {
      __shared__ int s[64];
      if (threadIdx.x >= n) return;
      s[threadIdx.x] = threadIdx.x; __syncthreads(); o[threadIdx.x] = s[n - 1 - threadIdx.x];
    }"""
    )
    out = np.zeros(64, np.int32)
    cuda(source, out, 40, block=64)
    assert np.array_equal(out[:40], np.arange(39, -1, -1)) and not out[40:].any()


def test_loops_that_end_at_different_times(cuda):
    source = (
        HEAD
        + """(int* o) {
      unsigned x = threadIdx.x + 1; int n = 0;
      while (x != 1) { x = x & 1 ? 3 * x + 1 : x >> 1; n++; if (n == 40) break; if (x % 7 == 3) continue; n += x % 5 == 0; }
      o[threadIdx.x] = n;
    }"""
    )

    def steps(x):
        n = 0
        while x != 1:
            x = 3 * x + 1 if x & 1 else x >> 1
            n += 1
            if n == 40:
                break
            n += x % 7 != 3 and x % 5 == 0
        return n

    out = np.zeros(128, np.int32)
    cuda(source, out, block=128)
    assert out.tolist() == [steps(t + 1) for t in range(128)]


@pytest.mark.long
def test_blocks_that_wait_for_the_block_before(cuda, rng):
    source = (
        HEAD
        + """(const int* in, int* out, volatile int* ready, volatile int* total) {
      if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x) { while (ready[blockIdx.x - 1] == 0); __threadfence(); before = total[blockIdx.x - 1]; }
        out[blockIdx.x] = total[blockIdx.x] = before + in[blockIdx.x];
        __threadfence(); ready[blockIdx.x] = 1;
      }
    }"""
    )
    a = rng.integers(0, 9, 300).astype(np.int32)
    out = np.zeros_like(a)
    cuda(source, a, out, np.zeros_like(a), np.zeros_like(a), grid=300, max_instructions=50_000_000)
    assert np.array_equal(out, np.cumsum(a))


def test_pointers_to_functions(cuda):
    source = (
        """__device__ int next(int x) { return x + 1; } __device__ int twice(int x) { return x * 2; }
    __device__ int (*table[2])(int) = {next, twice};
    """
        + HEAD
        + "(int* o) { o[threadIdx.x] = table[threadIdx.x & 1](threadIdx.x); }"
    )
    out, t = np.zeros(32, np.int32), np.arange(32)
    cuda(source, out)
    assert np.array_equal(out, np.where(t & 1, 2 * t, t + 1))


def test_the_same_array_twice_and_arrays_that_are_read_only(cuda):
    source = HEAD + "(const int* a, int* b) { b[threadIdx.x] = a[threadIdx.x] + 1; }"
    a = np.arange(32, dtype=np.int32)
    cuda(source, a, a)
    assert np.array_equal(a, np.arange(1, 33))
    fixed = a.copy()
    fixed.flags.writeable = False
    cuda(source, fixed, np.zeros(32, np.int32))
    with pytest.raises(gpu_simulator.SimulatedFault.__mro__[1], match="read-only"):
        cuda(source, a, fixed)


# ---- Tensor instructions, by their fragments ----


def registers(matrix, coordinates, dtype):
    """(registers, 32) patterns of a fragment."""
    values = np.ascontiguousarray(matrix[coordinates[..., 0], coordinates[..., 1]].astype(dtype))
    return values.view(np.uint32)[..., 0].T.copy()


def of_c(out):
    """(16, 8) out of (4, 32) accumulators."""
    tile, where = np.zeros((16, 8), out.dtype), Mma("m16n8k16", "f16").coordinates("C")[:, :, 0]
    tile[where[..., 0], where[..., 1]] = out.T
    return tile


@pytest.mark.parametrize(
    ("shape", "kind", "dtype", "k"),
    [
        ("m16n8k16", "f16", np.float16, 16),
        ("m16n8k8", "f16", np.float16, 8),
        ("m16n8k8", "tf32", np.float32, 8),
        ("m16n8k4", "tf32", np.float32, 4),
        ("m16n8k32", "s8", np.int8, 32),
        ("m16n8k16", "s8", np.int8, 16),
    ],
)
def test_one_mma(cuda, rng, shape, kind, dtype, k):
    a, b = rng.integers(-8, 9, (16, k)), rng.integers(-8, 9, (k, 8))
    mma = Mma(shape, kind)
    ra, rb = registers(a, mma.coordinates("A"), dtype), registers(b, mma.coordinates("B"), dtype)
    integer = kind == "s8"
    accumulator, letter, c_type = ("s32", "r", "int") if integer else ("f32", "f", "float")
    inputs = [f'"r"(a[{n * 32} + t])' for n in range(len(ra))] + [f'"r"(b[{n * 32} + t])' for n in range(len(rb))]
    names = [f"%{4 + n}" for n in range(len(inputs))]
    source = (
        HEAD
        + f"""(const unsigned* a, const unsigned* b, {c_type}* o) {{
      int t = threadIdx.x; {c_type} d[4] = {{1, 1, 1, 1}};
      asm volatile("mma.sync.aligned.{shape}.row.col.{accumulator}.{kind}.{kind}.{accumulator} {{%0, %1, %2, %3}}, "
        "{{{", ".join(names[: len(ra)])}}}, {{{", ".join(names[len(ra) :])}}}, {{%0, %1, %2, %3}};"
        : {", ".join(f'"+{letter}"(d[{n}])' for n in range(4))} : {", ".join(inputs)});
      for (int i = 0; i < 4; i++) o[i * 32 + t] = d[i];
    }}"""
    )
    out = np.zeros((4, 32), np.int32 if integer else np.float32)
    cuda(source, ra, rb, out)
    assert np.array_equal(of_c(out), a @ b + 1)


def test_stmatrix_inverts_ldmatrix(cuda, rng):
    source = (
        HEAD
        + """(const int4* in, int4* out) {
      __shared__ int4 s[64]; s[threadIdx.x] = in[threadIdx.x]; __syncwarp();
      unsigned r[4], a = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]), b = (unsigned)__cvta_generic_to_shared(&s[32 + threadIdx.x]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(b), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
      __syncwarp(); out[threadIdx.x] = s[32 + threadIdx.x];
    }"""
    )
    a = rng.integers(0, 60000, (4, 8, 8)).astype(np.uint16)
    out = np.zeros_like(a)
    report = cuda(source, a, out, arch="sm_90", observers=("hazards",))
    report.raise_hazards()
    assert np.array_equal(out, a.swapaxes(1, 2))
