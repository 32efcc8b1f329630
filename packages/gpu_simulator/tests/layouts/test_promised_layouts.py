"""A layout that is advised gives the counts that were promised: the kernel is written with it, and simulated."""

import compiling
import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.codegen.program import program_of
from gpu_simulator.layouts.candidates import Padding, Xor
from gpu_simulator.layouts.recorded_accesses import RecordedAccesses
from gpu_simulator.layouts.trials import studies

# In each kernel, AT(row, column) is the index of the array s in elements, and SIZE the number of its elements.
FLAT = "#define AT(row, column) PLACE((row) * ROW + (column))\n"
TRANSPOSE = """
#define ROW 32
__global__ void kernel(float* out, const float* in) {
  __shared__ float s[SIZE];
  int x = threadIdx.x, y = threadIdx.y;
  for (int r = y; r < 32; r += 8) s[AT(r, x)] = in[r * 32 + x];
  __syncthreads();
  for (int r = y; r < 32; r += 8) out[r * 32 + x] = s[AT(x, r)];
}"""
LDMATRIX = """
#include <cuda_fp16.h>
#define ROW 64
__global__ void kernel(unsigned* out, const uint4* in) {
  __shared__ __align__(128) half s[SIZE];
  int t = threadIdx.x;
  for (int i = t; i < 512; i += 32) *(uint4*)&s[AT(i / 8, i % 8 * 8)] = in[i];
  __syncwarp();
  for (int column = 0; column < 64; column += 8) {
    unsigned r0, r1, r2, r3, at = (unsigned)__cvta_generic_to_shared(&s[AT(t, column)]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at));
    out[t * 8 + column / 8] = r0 ^ r1 ^ r2 ^ r3;
  }
}"""
COPIES = """
#define ROW 32
__global__ void kernel(float* out, const float* in) {
  __shared__ __align__(128) float s[SIZE];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) {
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[AT(i / 8, i % 8 * 4)]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(in + i * 4) : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  float sum = 0;
  for (int c = 0; c < 32; c += 4) { float4 v = *(float4*)&s[AT(t, c)]; sum += v.x + v.y + v.z + v.w; }
  out[t] = sum;
}"""
BY_TWO = """
#define ROW 64
__global__ void kernel(float* out, const float* in) {
  __shared__ float s[SIZE];
  int t = threadIdx.x;
  s[AT(0, 2 * t)] = in[t];
  s[AT(0, 2 * t + 1)] = in[t + 32];
  __syncwarp();
  out[t] = s[AT(0, 2 * (31 - t))];
}"""
WIDE = """
#define ROW %d
__global__ void kernel(%s* out, const %s* in) {
  __shared__ %s s[SIZE];
  int t = threadIdx.x;
  for (int r = 0; r < 32; r++) if (t < ROW) s[AT(r, t)] = in[r * ROW + t];
  __syncwarp();
  for (int c = 0; c < ROW; c++) out[c * 32 + t] = s[AT(t, c)];
}"""
DYNAMIC = """
#define ROW 32
__global__ void kernel(float* out, const float* in) {
  extern __shared__ __align__(128) float memory[];
  float *first = memory, *s = memory + 1024;
  int t = threadIdx.x;
  first[t] = in[t];
  for (int r = 0; r < 32; r++) s[AT(r, t)] = in[r * 32 + t];
  __syncwarp();
  for (int c = 0; c < 32; c++) out[c * 32 + t] = s[AT(t, c)] + first[t];
}"""
TWO_ARRAYS = """
#define ROW 32
__global__ void kernel(float* out, const float* in) {
  __shared__ float s[SIZE];
  __shared__ float calm[32];
  int t = threadIdx.x;
  calm[t] = in[t];
  for (int r = 0; r < 32; r++) s[AT(r, t)] = in[r * 32 + t];
  __syncwarp();
  for (int c = 0; c < 32; c++) out[c * 32 + t] = s[AT(t, c)] + calm[t];
}"""

SCATTER = """
#define ROW 32
__global__ void kernel(float* out, const float* in) {
  __shared__ float s[SIZE];
  int t = threadIdx.x;
  for (int r = 0; r < 32; r++) s[AT(r, t)] = in[r * 32 + t];
  __syncwarp();
  if (t % 3) atomicAdd(&s[AT(t, 5)], 1.0f);
  __syncwarp();
  for (int c = 0; c < 32; c++) if ((t + c) % 5) out[c * 32 + t] = s[AT(t, c)];
}"""

F32 = np.arange(1024, dtype=np.float32)
CASES = {
    "transpose": (TRANSPOSE, 1024, "s", [np.zeros(1024, np.float32), F32], (32, 8), 0),
    "ldmatrix": (LDMATRIX, 4096, "s", [np.zeros(256, np.uint32), np.arange(4096, dtype=np.uint16)], 32, 0),
    "cp.async": (COPIES, 1024, "s", [np.zeros(32, np.float32), F32], 32, 0),
    "stride of 2": (BY_TWO, 64, "s", [np.zeros(32, np.float32), F32], 32, 0),
    "8 bytes": (WIDE % (16, *["float2"] * 3), 512, "s", [np.zeros(1024, np.float32), F32], 32, 0),
    "16 bytes": (WIDE % (8, *["float4"] * 3), 256, "s", [np.zeros(1024, np.float32), F32], 32, 0),
    "dynamic": (DYNAMIC, 1024, "memory", [np.zeros(1024, np.float32), F32], 32, 16384),
    "two arrays": (TWO_ARRAYS, 1024, "s", [np.zeros(1024, np.float32), F32], 32, 0),
    "idle lanes": (SCATTER, 1024, "s", [np.zeros(1024, np.float32), F32], 32, 0),
}


def simulated(source, size, place, args, block, smem):
    """(report, its studies, the arrays afterwards) of a kernel whose array has `size` elements, at `place` of i."""
    text = f"#define SIZE {size}\n#define PLACE(i) ({place})\n{FLAT}{source}"
    compiled = compiling.compile(text, arch="sm_80", name="kernel.cu", entry=None)
    entry, recorded = compiled.ptx.split(".entry ")[1].split("(")[0].strip(), RecordedAccesses()
    given = [array.copy() for array in args]
    report = gpu_simulator.launch(
        compiled.ptx,
        entry,
        1,
        block,
        given,
        dynamic_smem_bytes=smem,
        observers=["hazards", recorded.observe],
    )
    assert report.hazards == []
    found = studies(report, program_of(compiled.ptx, entry), report._launch.smem_bytes, recorded, text)
    return report, found, given


def written(layout) -> str:
    """The index of a layout as C++, for i."""
    element = layout.array.element_bytes
    if isinstance(layout, Padding):
        return f"((i) + (i) / {layout.row_bytes // element} * {layout.pad_bytes // element})"
    assert isinstance(layout, Xor)
    code = layout.code
    return code[code.index("[") + 1 : code.rindex("]")].replace("i", "(i)")


def by_line(report, wavefronts) -> dict[int, int]:
    """Source line -> wavefronts; the compiler may unroll a loop for one layout and not for another."""
    lines: dict[int, int] = {}
    for site, count in wavefronts.items():
        lines[report.sites[site].line] = lines.get(report.sites[site].line, 0) + count
    return lines


@pytest.mark.parametrize(
    "number", [slice(0, 2), pytest.param(slice(2, None), marks=pytest.mark.long)], ids=["2", "all"]
)
@pytest.mark.parametrize("name", CASES)
def test_the_kernel_with_an_advised_layout_takes_the_wavefronts_that_were_promised(name, number):
    source, size, array, args, block, smem = CASES[name]
    report, found, before = simulated(source, size, "i", args, block, smem)
    study = found[0]
    assert study.array.name == array and study.excess > 0 and study.best
    assert {type(trial.layout) for trial in study.best} == {Padding, Xor}
    for trial in study.best[number]:
        layout = trial.layout
        elements = layout.bytes // layout.array.element_bytes
        other, again, after = simulated(source, elements, written(layout), args, block, smem and smem + layout.bytes)
        now = next(one for one in again if one.array.name == array and one.array.offset == layout.array.offset)
        assert by_line(other, now.wavefronts) == by_line(report, trial.wavefronts), layout
        assert now.total == trial.total < study.total
        assert all((one == other).all() for one, other in zip(before, after, strict=True)), "the result is the same"
    assert study.best[0].total - sum(study.least.values()) <= 0.25 * study.excess


def test_the_best_of_the_transpose_is_the_padding_and_the_swizzle_that_everyone_knows():
    source, size, _, args, block, smem = CASES["transpose"]
    text = source.replace("s[SIZE]", "s[32][32]").replace("s[AT(r, x)]", "s[r][x]").replace("s[AT(x, r)]", "s[x][r]")
    _, (study,), _ = simulated(text, size, "i", args, block, smem)
    assert [(trial.total, trial.layout.bytes, trial.layout.code) for trial in study.best[:2]] == [
        (64, 4096, "s[row][column ^ (row & 31)]"),
        (64, 4224, "__shared__ float s[32][32 + 1];"),
    ]
    padded = text.replace("s[32][32]", "s[32][32 + 1]")
    assert simulated(padded, size, "i", args, block, smem)[0].totals.wavefronts == 64
    xored = text.replace("s[r][x]", "s[r][x ^ (r & 31)]").replace("s[x][r]", "s[x][r ^ (x & 31)]")
    assert simulated(xored, size, "i", args, block, smem)[0].totals.wavefronts == 64


def test_nothing_is_advised_without_a_conflict():
    source = (
        "__global__ void kernel(float* p) { __shared__ float s[32]; s[threadIdx.x] = p[threadIdx.x]; __syncwarp(); "
    )
    source += "p[threadIdx.x] = s[31 - threadIdx.x]; }"
    _, (study,), _ = simulated(source, 0, "i", [F32[:32]], 32, 0)
    assert (study.excess, study.best, study.tried, study.why_not) == (0, (), 0, "")


def test_an_array_without_a_conflict_is_left_alone_beside_one_with():
    source, size, _, args, block, smem = CASES["two arrays"]
    _, (first, second), _ = simulated(source, size, "i", args, block, smem)
    assert (first.array.name, second.array.name) == ("s", "calm") and first.best and not second.best
    assert sum(second.wavefronts.values()) == sum(second.least.values()) == 2


def test_dynamic_memory_is_divided_where_no_access_crosses():
    source, size, _, args, block, smem = CASES["dynamic"]
    _, (first, second), _ = simulated(source, size, "i", args, block, smem)
    assert [(one.array.offset, one.array.size, one.array.type) for one in (first, second)] == [
        (4096, 4096, "float"),
        (0, 128, "float"),
    ]


def test_what_hardware_addresses_is_left_as_it_is():
    source = """#include <mma.h>
    using namespace nvcuda;
    __global__ void kernel(half* in, float* out) {
      __shared__ __align__(32) half s[64 * 64];
      for (int i = threadIdx.x; i < 4096; i += 32) s[i % 64 * 64 + i / 64] = in[i];
      __syncwarp();
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
      wmma::fill_fragment(c, 0.0f);
      wmma::load_matrix_sync(a, s, 64);
      wmma::load_matrix_sync(b, s, 64);
      wmma::mma_sync(c, a, b, c);
      wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
    }"""
    args = [np.ones(4096, np.float16), np.zeros(256, np.float32)]
    _, (study,), _ = simulated(source, 0, "i", args, 32, 0)
    assert study.excess > 0 and not study.best and study.why_not.startswith("wmma addresses it")
