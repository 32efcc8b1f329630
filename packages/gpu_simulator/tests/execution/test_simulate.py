"""`simulate`: source in, report out; and tensor maps behind pointers."""

import numpy as np
import pytest
from compiling import need_compiler
from ptx_text import text

import gpu_simulator
from gpu_simulator import ConfigError, LaunchError, simulate
from gpu_simulator.compiler import CompileError
from gpu_simulator.hardware.tensor_map import TensorMap

SOURCE = """
#include <cstdio>
#include <vector>
template <typename T, int N> __global__ void scale(T* x, T factor) {
  for (int i = 0; i < N; i++) x[N * (blockIdx.x * blockDim.x + threadIdx.x) + i] *= factor;
}
__global__ void add(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] += WEIGHT * a[i];
}
int main() {
  std::vector<float> a(100);
  add<<<1, 128>>>(a.data(), a.data(), 100);
  printf("%f", a[0]);
}
"""


@pytest.fixture(autouse=True)
def compiler():
    need_compiler()


def test_a_kernel_of_a_program_with_host_code():
    a, b = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    report = simulate(SOURCE, "add", 1, 128, [a, b, 100], defines={"WEIGHT": 2}, observers=("hazards",))
    assert np.array_equal(b, 1 + 2 * a) and report.hazards == [] and report.totals.sectors > 0


def test_a_template_with_its_arguments():
    x = np.arange(256, dtype=np.int32)
    simulate(SOURCE, "scale<int, 4>", grid=2, block=32, args=[x, 3], defines={"WEIGHT": 1})
    assert np.array_equal(x, 3 * np.arange(256))


def test_a_file(tmp_path):
    (tmp_path / "weight.h").write_text("#define WEIGHT 5\n")
    (tmp_path / "add.cu").write_text('#include "weight.h"\n' + SOURCE)
    a, b = np.ones(32, np.float32), np.zeros(32, np.float32)
    simulate(tmp_path / "add.cu", "add", block=32, args=[a, b, 32])
    simulate(str(tmp_path / "add.cu"), "add", block=32, args=[a, b, 32])
    assert (b == 10).all()
    with pytest.raises(ConfigError, match="none.cu cannot be read"):
        simulate("none.cu")
    with pytest.raises(ConfigError, match="the path of its file, not None"):
        simulate(None)


def test_a_kernel_in_a_header_that_is_missing(tmp_path):
    (tmp_path / "main.cu").write_text('#include "kernels.cuh"\n#include <vector>\nint main() {}\n')
    with pytest.raises(ConfigError, match="main.cu has no kernel: .* Left out: kernels.cuh"):
        simulate(tmp_path / "main.cu")


def test_ptx_is_not_compiled():
    report = simulate(text(""), None, 1, 32, [None] * 3)
    assert report.instructions > 0


@pytest.mark.parametrize(
    ("kernel", "kind", "says"),
    [
        (None, ConfigError, "Say which kernel"),
        ("ad", ConfigError, "Did you mean add"),
        ("scale", ConfigError, "is a template"),
        ("add", LaunchError, "takes 3 arguments, not 0"),
    ],
)
def test_mistakes_get_a_sentence(kernel, kind, says):
    with pytest.raises(kind, match=says):
        simulate(SOURCE, kernel, defines={"WEIGHT": 1})
    with pytest.raises(CompileError, match="WEIGHT"):
        simulate(SOURCE, "add")


BOX = """
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
extern "C" __global__ void kernel(const CUtensorMap* map, int* out) {
  __shared__ alignas(128) int tile[8 * 32];
  __shared__ alignas(8) unsigned long long bar;
  unsigned b = __cvta_generic_to_shared(&bar), t = __cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" :: "r"(b) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" :: "r"(b) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" :: "r"(t), "l"(map), "r"(8), "r"(2), "r"(b) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra L; }" :: "r"(b) : "memory");
  for (int i = threadIdx.x; i < 256; i += 32) out[i] = tile[i];
}
"""


@pytest.mark.parametrize("timing", ["early", "late"])
def test_a_tensor_map_behind_a_pointer(timing):
    array, out = np.arange(16 * 64, dtype=np.int32).reshape(16, 64), np.zeros((8, 32), np.int32)
    args = [TensorMap.of(array, (32, 8)), out]
    report = simulate(BOX, block=32, args=args, arch="sm_90a", observers=("hazards",), timing=timing)
    assert np.array_equal(out, array[2:10, 8:40]) and report.hazards == []
    assert args[0].array is array and "the tensor map of argument 0" in report._launch.memory.names


def test_a_number_where_the_map_belongs_is_a_fault():
    with pytest.raises(gpu_simulator.SimulatedFault, match="tensor map"):
        simulate(BOX, block=32, args=[np.zeros(32, np.int32), np.zeros(256, np.int32)], arch="sm_90a")
