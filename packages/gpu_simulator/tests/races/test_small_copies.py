"""cp.async of 4 and 8 bytes whose end an mbarrier tells: only the bytes that they write count."""

import numpy as np
import pytest
from compiling import need_compiler

from gpu_simulator import simulate

need_compiler()

SOURCE = """
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void k(int* out, const int* in) {
  __shared__ __align__(16) struct { int count; int room[WORDS]; int after; } s;
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(at(&bar)) : "memory");
    s.count = 7;
  }
  __syncthreads();
  if (threadIdx.x >= 32) {  // a warp that copies, and does not wait
    const int i = WORDS / 32 * (threadIdx.x - 32);
    asm volatile("cp.async.ca.shared.global [%0], [%1], BYTES;" :: "r"(at(s.room + i)), "l"(in + i) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(&bar)) : "memory");
    if (threadIdx.x == 32) s.after = READ;
  } else {
    asm volatile("{ .reg .pred p;\\nWAIT: mbarrier.test_wait.parity.shared.b64 p, [%0], 0;\\n@!p bra WAIT; }"
                 :: "r"(at(&bar)) : "memory");
    out[threadIdx.x] = s.room[WORDS / 32 * threadIdx.x];
  }
  if (threadIdx.x % 32 == 0) atomicAdd(&s.count, 1);
  if (threadIdx.x == 32) s.after++;
}
"""


def hazards_of(timing, words, read="1"):
    out, data = np.zeros(32, np.int32), np.arange(64, dtype=np.int32)
    source = SOURCE.replace("WORDS", str(words)).replace("BYTES", str(words // 8)).replace("READ", read)
    if words == 64:  # copies of 8 bytes need an aligned room
        source = source.replace("int count; int room", "int pad, count; int room")
    found = simulate(source, block=64, args=[out, data], observers=("hazards",), timing=timing).hazards
    assert out.tolist() == [*range(0, words, words // 32)]
    return {hazard.kind for hazard in found}


@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("words", [32, 64])
def test_neighbours_of_a_copy_are_not_part_of_it(timing, words):
    assert hazards_of(timing, words) == set()


def test_the_bytes_of_a_copy_are():
    assert hazards_of("early", 32, read="s.room[30]") == {"missing wait"}
