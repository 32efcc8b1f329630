"""What a GPU does not promise and the simulator therefore does not give: zeros in shared memory, unneeded addresses that
may be wrong, a wait that is over because it was asked once, copies that arrive early, lane 0 as the elected one, an order of
`__shared__` arrays, generic addresses whose lower half is a shared address."""

import compiling
import numpy as np
import pytest

import gpu_simulator
from gpu_simulator import MemoryFault

LDMATRIX = """extern "C" __global__ void kernel(unsigned* out) {
  __shared__ alignas(16) unsigned tile[16][4];
  tile[threadIdx.x / 2][threadIdx.x % 2 * 2] = tile[threadIdx.x / 2][threadIdx.x % 2 * 2 + 1] = threadIdx.x;
  __syncthreads();
  unsigned at = __cvta_generic_to_shared(&tile[ROW][0]), a, b;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
  out[threadIdx.x] = a + b;
}"""

RING = """
#include "ptx/tma.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/ldmatrix.cuh"
extern "C" __global__ void kernel(const uint4* in, uint4* out) {
  __shared__ alignas(128) uint4 tile[4][32];
  __shared__ alignas(8) uint64_t memory[4];
  const uint32_t full = shared_address(memory);
  if (threadIdx.x == 0)
    { for (int i = 0; i < 4; i++) mbarrier_init(full + i * 8, 1); asm volatile("fence.proxy.async;" ::: "memory"); }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < 4; i++) {
      mbarrier_arrive_expect_tx(full + i * 8, 512);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];"
                   :: "r"(shared_address(&tile[i][0])), "l"(in + i * 32), "r"(full + i * 8) : "memory");
      EACH
    }
  __syncthreads();
  for (int i = 0; i < 4; i++) { WAIT; out[i * 32 + threadIdx.x] = tile[i][threadIdx.x]; }
}"""
ASK = """unsigned done; asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; "
  "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(full + i * 8) : "memory")"""


def test_shared_memory_begins_as_no_number(cuda):
    out = np.zeros(64, np.float32)
    cuda(
        """extern "C" __global__ void kernel(float* out) {
      __shared__ float written[32], unwritten[32];
      written[threadIdx.x] = 1; __syncwarp();
      out[threadIdx.x] = written[threadIdx.x]; out[32 + threadIdx.x] = unwritten[threadIdx.x];
    }""",
        out,
    )
    assert (out[:32] == 1).all() and np.isnan(out[32:]).all()


@pytest.mark.parametrize(
    ("arch", "row", "fine"),
    [("sm_75", "threadIdx.x % 16", True), ("sm_75", "threadIdx.x", False), ("sm_80", "threadIdx.x", True)],
)
def test_on_sm_75_all_lanes_of_ldmatrix_name_rows(cuda, arch, row, fine):
    out, source = np.zeros(32, np.uint32), LDMATRIX.replace("ROW", row)
    if fine:
        cuda(source, out, arch=arch)
        assert out.any()
    else:
        with pytest.raises(
            MemoryFault,
            match=r"thread \(16, 0, 0\) accessed 16 bytes at shared address 256, which would be tile\[16\]\[0\]",
        ):
            cuda(source, out, arch=arch)


def ring(each="", wait="mbarrier_wait_parity(full + i * 8, 0)", **options):
    compiled = compiling.compile(
        RING.replace("EACH", each).replace("WAIT", wait), arch="sm_90a", name="kernel.cu", entry="kernel"
    )
    source, out = np.arange(512, dtype=np.uint32), np.zeros(512, np.uint32)
    return out, source, gpu_simulator.launch(compiled, "kernel", 1, 32, [source, out], **options)


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("times", [1, 3, 4, 10, 1000])
def test_a_wait_that_is_asked_a_few_times_and_then_believed_is_found(times):
    for timing in ("early", "late"):
        out, source, report = ring(timing=timing, observers=("hazards",))
        assert np.array_equal(out, source) and not report.hazards
    out, source, _ = ring(wait=f"for (int turn = 0; turn < {times}; turn++) {{ {ASK}; }}", timing="early")
    assert np.array_equal(out, source)
    out, source, report = ring(
        wait=f"for (int turn = 0; turn < {times}; turn++) {{ {ASK}; }}", timing="late", observers=("hazards",)
    )
    assert not np.array_equal(out, source) or report.hazards


@pytest.mark.long
def test_late_copies_are_counted_while_they_are_on_the_way():
    assert ring(timing="early")[2].most_on_the_way == 0
    assert ring(timing="late")[2].most_on_the_way == 4 * 512
    assert ring(each="mbarrier_wait_parity(full + i * 8, 0);", timing="late")[2].most_on_the_way == 512
    assert ring()[2].asked_by_rank == {0: 4 * 512}


ELECT = """extern "C" __global__ void kernel(unsigned* out) {
  unsigned leader, chosen;
  asm volatile("{.reg .pred p; elect.sync %0|p, MEMBERS; selp.u32 %1, 1, 0, p;}" : "=r"(leader), "=r"(chosen));
  out[threadIdx.x] = leader * 2 + chosen;
}"""


@pytest.mark.parametrize(
    ("timing", "members", "leader"),
    [("early", 0xFFFFFFFF, 0), ("late", 0xFFFFFFFF, 31), ("staggered", 0xFFFFFFFF, 0)],
)
def test_elect_names_one_lane_and_not_always_the_same(timing, members, leader):
    compiled = compiling.compile(ELECT.replace("MEMBERS", str(members)), arch="sm_90a", entry="kernel")
    out = np.zeros(32, np.uint32)
    gpu_simulator.launch(compiled, "kernel", 1, 32, [out], timing=timing)
    assert (out // 2 == leader).all() and np.flatnonzero(out % 2).tolist() == [leader]


ORDER = """extern "C" __global__ void kernel(unsigned* out) {
  __shared__ unsigned first[32], second[32];
  first[threadIdx.x] = threadIdx.x; second[threadIdx.x] = 1000 + threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x ^ 1] + second[threadIdx.x ^ 1];
  if (threadIdx.x == 0) out[32] = __cvta_generic_to_shared(first) < __cvta_generic_to_shared(second);
}"""


@pytest.mark.parametrize("base", [0, 1024])
def test_shared_arrays_lie_in_either_order(base):
    compiled, out = compiling.compile(ORDER, arch="sm_80", entry="kernel"), np.zeros(33, np.uint32)
    gpu_simulator.launch(compiled, "kernel", 1, 32, [out], placement=gpu_simulator.Placement(shared_memory_base=base))
    assert (out[:32] == 1000 + 2 * (np.arange(32) ^ 1)).all()
    other = np.zeros(33, np.uint32)
    gpu_simulator.launch(
        compiled, "kernel", 1, 32, [other], placement=gpu_simulator.Placement(shared_memory_base=1024 - base)
    )
    assert out[32] != other[32]


CUT = """extern "C" __global__ void kernel(unsigned* out) {
  __shared__ unsigned array[32];
  array[threadIdx.x] = threadIdx.x;
  unsigned value, at = WHERE;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  out[threadIdx.x] = value;
}"""


def test_a_generic_address_that_is_cut_is_no_shared_address():
    right = compiling.compile(
        CUT.replace("WHERE", "__cvta_generic_to_shared(array + threadIdx.x)"), arch="sm_80", entry="kernel"
    )
    out = np.zeros(32, np.uint32)
    gpu_simulator.launch(right, "kernel", 1, 32, [out])
    assert (out == np.arange(32)).all()
    cut = compiling.compile(
        CUT.replace("WHERE", "(unsigned)(size_t)(array + threadIdx.x)"), arch="sm_80", entry="kernel"
    )
    with pytest.raises(MemoryFault, match="shared address 2,147"):
        gpu_simulator.launch(cut, "kernel", 1, 32, [out])


@pytest.mark.parametrize("how", ["- 0x80000000u", "& 0xFFFFFFu"])
def test_the_window_of_shared_memory_lies_elsewhere_in_another_launch(how):
    cut = f"(unsigned)(size_t)(array + threadIdx.x) {how}"
    compiled = compiling.compile(CUT.replace("WHERE", cut), arch="sm_80", entry="kernel")
    out = np.zeros(32, np.uint32)
    gpu_simulator.launch(compiled, "kernel", 1, 32, [out])
    assert (out == np.arange(32)).all()
    with pytest.raises(MemoryFault, match="shared"):
        gpu_simulator.launch(
            compiled, "kernel", 1, 32, [out], placement=gpu_simulator.Placement(shared_memory_base=1024)
        )


GENERIC = """extern "C" __global__ void __cluster_dims__(2) kernel(unsigned* out) {
  __shared__ __align__(16) unsigned array[32];
  unsigned t = threadIdx.x, rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  array[t] = 100 * rank + t;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  unsigned long long far;
  asm("mapa.u64 %0, %1, %2;" : "=l"(far) : "l"(array + t), "r"(rank ^ 1));
  unsigned owner;
  asm("getctarank.u64 %0, %1;" : "=r"(owner) : "l"(far));
  const unsigned* there = reinterpret_cast<unsigned*>(far);
  out[32 * rank + t] = 10 * *there + owner + 4 * __isShared(array + t) + 8 * !__isGlobal(array);
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}"""


@pytest.mark.parametrize("base", [0, 1024])
def test_generic_addresses_of_a_cluster_are_right_wherever_their_window_lies(base):
    compiled = compiling.compile(GENERIC, arch="sm_90a", entry="kernel")
    out = np.zeros(64, np.uint32)
    gpu_simulator.launch(compiled, "kernel", 2, 32, [out], placement=gpu_simulator.Placement(shared_memory_base=base))
    there = np.array([100 + np.arange(32), np.arange(32)])
    assert (out.reshape(2, 32) == 10 * there + np.array([[1], [0]]) + 12).all()
