"""Atomic updates of a byte: libcu++ exchanges the word around it, of which the kernel's memory may have only a part."""

import numpy as np
import pytest
from compiling import need_clang, need_compiler
from ptx_text import run

import gpu_simulator

BYTES = """#include <cuda/atomic>
template <typename T> using Ref = cuda::atomic_ref<T, cuda::thread_scope_block>;
__global__ void kernel(unsigned char* sum, unsigned* old) {
  __shared__ unsigned char s;
  __shared__ bool ready;
  if (threadIdx.x == 0) s = 3, Ref<bool>(ready).store(false);
  __syncthreads();
  old[threadIdx.x] = Ref<unsigned char>(s).fetch_add(1);
  if (!Ref<bool>(ready).exchange(true)) cuda::atomic_ref<unsigned char>(*sum).fetch_add(2);
}"""


@pytest.mark.parametrize("compiler", ["nvrtc", "clang"])
def test_one_byte_is_updated(compiler):
    need_clang() if compiler == "clang" else need_compiler()
    total, old = np.full(1, 255, np.uint8), np.zeros(40, np.uint32)
    gpu_simulator.simulate(BYTES, "kernel", 1, 40, [total, old], using=compiler, observers=["hazards"]).raise_hazards()
    assert total[0] == 1 and sorted(old) == list(range(3, 43))


HEAD = "mov.u32 %r2, smem; st.shared.u8 [%r2], 7;"
CAS = "atom.cas.relaxed.cta.shared.b32 %r1, [%r2], 0, 1;"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (f"{HEAD} {CAS}", ""),
        (f"{HEAD} ld.relaxed.cta.shared.b32 %r1, [%r2];", ""),
        (f"{HEAD} ld.shared.b32 %r1, [%r2];", "accessed 4 bytes at shared address 0, but its shared memory has 3"),
        (f"{HEAD} st.relaxed.cta.shared.b32 [%r2], 1;", "its shared memory has 3 bytes"),
        (f"{HEAD} atom.add.relaxed.cta.shared.b32 %r1, [%r2], 1;", "its shared memory has 3 bytes"),
        (f"{HEAD} {CAS.replace('%r2]', '%r2+4]')}", "at shared address 4, but its shared memory has 3 bytes"),
        (f"{HEAD} {CAS.replace('%r2]', '%r2+1]')}", "at shared address 1, but its shared memory has 3"),
        (f"mov.u32 %r2, smem; {CAS}", "updates .*shared address 0.*, which nothing has written"),
        (f"{HEAD} ld.shared.u8 %r1, [%r2+1];", "reads .*shared address 1.*, which nothing has written"),
        (CAS.replace(".cta.shared", ".gpu.global").replace("%r2", "%a"), ""),
        ("ld.global.b32 %r1, [%a];", r"across the end of argument 0 \(3 bytes\)"),
        (CAS.replace(".cta.shared", ".gpu.global").replace("%r2", "%a+4"), r"1 bytes past the end of argument 0"),
    ],
)
def test_only_such_an_update_may_pass_the_end(body, found):
    def launch():
        run(body, np.zeros(3, np.uint8), None, None, block=1, shared=3, observers=["hazards"]).raise_hazards()

    if not found:
        launch()
        return
    with pytest.raises(gpu_simulator.SimulatedFault, match=found):
        launch()
