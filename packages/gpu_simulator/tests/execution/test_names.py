"""A fault names variables as the learner wrote them."""

import re

import compiling
import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.ptx.demangle import source_name

SOURCE = """
namespace lab {
__constant__ int table[4];
static __device__ int other[4];
namespace { __device__ int hidden[4]; }
template <int N> __device__ int staged_sum(const int* p) {
  __shared__ int staged[N];
  staged[p[0]] = p[1]; __syncthreads();
  return staged[p[2]];
}
}
static __device__ int mine[4];
template <int N> __device__ int many[N];
struct Counter {
  int from;
  __device__ int count(int i) { __shared__ int counted[4]; counted[i] = i; __syncthreads(); return counted[from]; }
};
extern "C" __global__ void kernel(int* p) {
  __shared__ int smem_b[32];
  const auto in_a_lambda = [&](int i) { __shared__ int its_own[4]; its_own[i] = i; return its_own[i ^ 1]; };
  smem_b[p[3]] = 1;
  { __shared__ int smem_b[64]; smem_b[p[4]] = 2; p[5] = smem_b[p[6]]; }
  p[0] = lab::table[p[0]] + lab::other[p[1]] + lab::hidden[p[2]] + lab::staged_sum<32>(p) + mine[p[3]] + many<5>[p[4]]
      + smem_b[p[5]] + in_a_lambda(p[6]) + Counter{p[7]}.count(p[8]);
}
"""


def test_every_symbol_that_the_compiler_makes_has_its_name_again():
    ptx = compiling.compile(SOURCE, arch="sm_80", name="kernel.cu", entry="kernel").ptx
    symbols = re.findall(r"\.(?:global|const|shared) \.align \d+ \.b8 ([\w$]+)\[", ptx)
    assert sum(symbol.startswith("_Z") for symbol in symbols) >= 8, symbols
    assert {source_name(symbol) for symbol in symbols} == {
        "lab::table",
        "lab::other",
        "lab::hidden",
        "staged",
        "mine",
        "many",
        "counted",
        "smem_b",
        "its_own",
    }


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZZ4gemmE6smem_b", "smem_b"),
        ("_ZZ4gemmE6smem_b_0", "smem_b"),
        ("_ZZ4gemmE6smem_b__10_", "smem_b"),
        ("_ZZ5plainPKfPfE4tile", "tile"),
        ("_ZZ1kPddE1l_$_0", "l"),
        ("_ZZ4gemmE4a_E1", "a_E1"),
        ("_ZL5table", "table"),
        ("_ZN3labL5tableE", "lab::table"),
        ("_ZN36_GLOBAL__N__00000000_4_k_cu_fae0ffd25tableE", "table"),
    ],
)
def test_the_forms_of_a_symbol(symbol, name):
    assert source_name(symbol) == name


@pytest.mark.parametrize(
    "symbol", ["smem_b", "dynamic", "$str", "_Z", "_ZN", "_ZZ", "_ZZ4gemmE", "_ZZ4gemmE99x", "_Zebra"]
)
def test_what_is_no_such_symbol_stays(symbol):
    assert source_name(symbol) == symbol


def test_faults_name_them(cuda):
    local = 'extern "C" __global__ void kernel(int* p) {\n __shared__ int smem_b[32];\n smem_b[p[0] + 64] = 1;\n p[1] = smem_b[p[2]]; }'
    with pytest.raises(gpu_simulator.MemoryFault, match=r"\(nearest: smem_b, which begins at 0 and has 128 bytes\)"):
        cuda(local, np.zeros(4, np.int32))
    far = 'namespace lab { __constant__ int table[4]; }\nextern "C" __global__ void kernel(int* p) { p[0] = lab::table[p[1] + 5]; }'
    with pytest.raises(gpu_simulator.MemoryFault, match=r"4 bytes past the end of lab::table \(16 bytes\)"):
        cuda(far, np.zeros(4, np.int32))


def test_a_snapshot_finds_a_variable_by_its_name_before_a_longer_one(cuda):
    source = (
        'extern "C" __global__ void kernel(int* p) {\n  __shared__ int tile_b[4], tile[32];\n  tile_b[p[0]] = 7;\n'
        "  tile[threadIdx.x] = threadIdx.x;\n  __syncthreads();\n  p[threadIdx.x] = tile[31 - threadIdx.x] + tile_b[0];\n}"
    )
    report = cuda(source, np.zeros(32, np.int32))
    seen = report.inspect(("kernel.cu", 6))
    assert seen.shared_as(np.int32, "tile").tolist() == list(range(32))
    with pytest.raises(
        gpu_simulator.SimulatedFault, match="no shared variable other; there is tile_b, tile|tile, tile_b"
    ):
        seen.shared_as(np.int32, "other")
