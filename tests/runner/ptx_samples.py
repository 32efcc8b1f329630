"""PTX of small kernels, compiled by NVRTC, for the tests of the instrumentation."""

import functools
from pathlib import Path

import pytest

KERNELS = {
    "loop": """
extern "C" __global__ void __launch_bounds__(128) gemm(const float* a, float* d, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 128)
    if (i != 7) sum += a[i];
  d[threadIdx.x] = sum;
}
""",
    "inline": """
__device__ inline void copy_16b(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(bytes));
}
__device__ inline float guarded(const float* from, bool yes) {
  float value;
  asm volatile("{\\n .reg .pred p;\\n setp.ne.b32 p, %2, 0;\\n mov.f32 %0, 0f00000000;\\n"
               " @p ld.global.f32 %0, [%1+64];\\n}" : "=f"(value) : "l"(from), "r"((int)yes));
  return value;
}
extern "C" __global__ void __launch_bounds__(128) gemm(const float* a, float4* d, int n) {
  extern __shared__ __align__(128) float tile[];
  int t = threadIdx.x;
  unsigned to = (unsigned)__cvta_generic_to_shared(tile + 4 * t);
  copy_16b(to, a + 4 * t, t < n ? 16 : 0);
  asm volatile("cp.async.commit_group; cp.async.wait_all;");
  __syncthreads();
  unsigned r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(to));
  float4 v = d[t];
  v.x += guarded(a + t, t < n) + r[0] + r[1] + r[2] + r[3];
  d[t] = v;
}
""",
    "wait": """
__device__ int counters[4];
__device__ inline void wait(unsigned barrier, int phase) {
  asm volatile("{\\n.reg .pred P1;\\nLAB_WAIT:\\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\\n"
               "@P1 bra DONE;\\nbra LAB_WAIT;\\nDONE:\\n}" :: "r"(barrier), "r"(phase));
}
extern "C" __global__ void __launch_bounds__(128) gemm(float* d, int n) {
  __shared__ alignas(8) unsigned long long full[2];
  unsigned barrier = (unsigned)__cvta_generic_to_shared(full);
  wait(barrier, 0);
  wait(barrier + 8, 1);
  atomicAdd(d, 1.0f);
  counters[threadIdx.x & 3] = n;
}
""",
}
ARCHES = {"loop": ("sm_75", "sm_90a", "sm_120a"), "inline": ("sm_80", "sm_90a"), "wait": ("sm_90a",)}
CASES = [(name, arch) for name, arches in ARCHES.items() for arch in arches]


@functools.cache
def ptx_of(name: str, arch: str) -> str:
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    try:
        _, program = nvrtc.nvrtcCreateProgram(KERNELS[name].encode(), b"learner.cu", 0, [], [])
    except RuntimeError as error:
        pytest.skip(f"NVRTC does not load: {error}")
    options = [f"--gpu-architecture={arch.replace('sm_', 'compute_')}".encode(), b"-lineinfo", b"--std=c++17"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert int(status) == 0
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = b" " * size
    nvrtc.nvrtcGetPTX(program, text)
    return text.decode().rstrip("\0")


def line_of(name: str, words: str) -> int:
    """The 1-based number of the first line of a sample that contains `words`."""
    return next(i for i, line in enumerate(KERNELS[name].splitlines(), 1) if words in line)


def ptxas() -> str | None:
    import shutil

    return shutil.which("ptxas") or next(
        (str(path) for path in [Path("/usr/local/cuda/bin/ptxas")] if path.is_file()), None
    )
