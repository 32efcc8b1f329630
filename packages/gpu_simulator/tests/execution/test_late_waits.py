"""Late timing: a wait that is repeated until it is over costs few instructions, and one that gives up is found."""

import numpy as np
import pytest
from compiling import need_compiler

from gpu_simulator import simulate
from gpu_simulator.codegen.program import program_of
from gpu_simulator.simulating import compiled_kernel

HEAD = """
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void begin(unsigned long long* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ bool over(unsigned long long* b, int parity) {
  unsigned yes;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(yes) : "r"(at(b)), "r"(parity) : "memory");
  return yes;
}
__device__ void spin(unsigned long long* b, int parity) {
  asm volatile("{ .reg .pred p;\\nAGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\\n@!p bra AGAIN; }"
               ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ void fetch(int* to, const int* from, unsigned long long* b) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at(b)) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
               ::"r"(at(to)), "l"(from), "r"(at(b)) : "memory");
}
"""
# Each fetches tiles of 64 numbers and adds them up, in another order of waits.
SUMS = {
    "waits one after the other": """
      #pragma unroll
      for (int i = 0; i < 4; i++) { if (t == 0) fetch(tile[i], g + 64 * i, full + i); spin(full + i, 0); sum += tile[i][t]; }""",
    "every thread in a loop": """
      for (int i = 0; i < n; i++) { if (t == 0) fetch(tile[0], g + 64 * i, full); spin(full, i & 1); sum += tile[0][t]; __syncthreads(); }""",
    "a parity that the loop flips": """
      int parity = 0;
      for (int i = 0; i < n; i++, parity ^= 1) { if (t == 0) fetch(tile[0], g + 64 * i, full); while (!over(full, parity)) {} sum += tile[0][t]; __syncthreads(); }""",
    "a pause between two looks": """
      for (int i = 0; i < n; i++) { if (t == 0) fetch(tile[0], g + 64 * i, full); while (!over(full, i & 1)) __nanosleep(20); sum += tile[0][t]; __syncthreads(); }""",
    "a ring between two warps": """
      if (t < 32) { if (t == 0) for (int i = 0; i < n; i++) { spin(empty + i % 2, i / 2 % 2 ^ 1); fetch(tile[i % 2], g + 64 * i, full + i % 2); } }
      else for (int i = 0; i < n; i++) { spin(full + i % 2, i / 2 % 2); sum += tile[i % 2][t]; arrive(empty + i % 2); }""",
}
TRIES = {
    "a count": "int tries = 0; while (!over(full, 0) && ++tries < 1000) {}",
    "a count in memory": "volatile int tries = 0; while (!over(full, 0)) { tries = tries + 1; if (tries > 300) break; }",
    "a count for each tile": "for (int i = 0; i < n; i++) { int tries = 0; while (!over(full + i, 0) && ++tries < 1000) {} sum += tile[i][t]; }",
    "a clock": "long long start = clock64(); while (!over(full, 0) && clock64() - start < 500) {}",
}


def kernel(body: str) -> str:
    return f"""{HEAD}__global__ void k(const int* g, int* o, int n) {{
      __shared__ alignas(128) int tile[4][64]; __shared__ alignas(8) unsigned long long full[4], empty[2];
      int t = threadIdx.x, sum = 0;
      if (t == 0) {{ for (int i = 0; i < 4; i++) begin(full + i, 1); begin(empty, 32); begin(empty + 1, 32);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); asm volatile("fence.proxy.async;" ::: "memory"); }}
      __syncthreads();
      {body}
      o[t] = sum;
    }}"""


def run(body: str, timing: str):
    """The report, the numbers that were summed, and the sums."""
    need_compiler()
    g, o = np.arange(4 * 64, dtype=np.int32), np.zeros(64, np.int32)
    report = simulate(kernel(body), "k", 1, 64, [g, o, 4], arch="sm_90a", observers=("hazards",), timing=timing)
    return report, g.reshape(4, 64), o


@pytest.mark.parametrize("order", SUMS)
def test_waits_that_are_repeated_cost_few_instructions(order):
    reports = {}
    for timing in ("early", "late"):
        reports[timing], tiles, sums = run(SUMS[order], timing)
        first = 32 if "two warps" in order else 0
        assert np.array_equal(sums[first:], tiles.sum(0)[first:]) and not reports[timing].hazards
    assert reports["late"].instructions <= 4 * reports["early"].instructions


@pytest.mark.parametrize("limit", TRIES)
def test_a_wait_that_gives_up_is_found(limit):
    body = f"if (t == 0) for (int i = 0; i < 4; i++) fetch(tile[i], g + 64 * i, full + i); {TRIES[limit]}"
    body += "" if "tile[i]" in TRIES[limit] else "sum = tile[0][t];"
    report, tiles, sums = run(body, "early")
    right = tiles.sum(0) if "tile[i]" in TRIES[limit] else tiles[0]
    assert np.array_equal(sums, right)
    report, tiles, sums = run(body, "late")
    assert report.hazards or not np.array_equal(sums, right)


def test_copies_of_an_unrolled_loop_are_tried_once():
    """A wait that would give up much later is asked many times, but at one place of the source only once."""
    count = (
        "if (t == 0) fetch(tile[i], g, full + i); int tries = 0; while (!over(full + i, 0) && tries < 99999) tries++;"
    )
    count += "sum += tries;"
    once = run(f"for (int i = 0; i < 1; i++) {{ {count} }}", "late")[0]
    often = run(f"\n#pragma unroll\nfor (int i = 0; i < 4; i++) {{ {count} }}", "late")[0]
    assert once.instructions > 2000 and often.instructions < 1.5 * once.instructions


@pytest.mark.parametrize(
    ("wait", "spins"),
    [
        ("spin(full, 0);", True),
        ("unsigned tries = 0; while (!over(full, 0)) tries += 3; sum = tries;", True),
        ("long long start = clock64(); while (!over(full, 0)) if (clock64() - start > 99) __nanosleep(9);", True),
        *((text, False) for text in TRIES.values()),
        ("over(full, 0);", False),
        ("while (!over(full, 0)) o[t]++;", False),
    ],
)
def test_which_waits_only_ask(wait, spins):
    need_compiler()
    found = compiled_kernel(kernel(wait), "k", "sm_90a")
    assert bool(program_of(found.program.ptx, found.entry).spinning_waits) == spins


LIBRARY = """#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void k(const int* g, int* o, int n) {
  __shared__ alignas(128) int tile[64];
  #pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier full;
  int sum = 0;
  if (threadIdx.x == 0) { init(&full, blockDim.x); cuda::device::experimental::fence_proxy_async_shared_cta(); }
  __syncthreads();
  for (int i = 0; i < n; i++) {
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
      cuda::device::experimental::cp_async_bulk_global_to_shared(tile, g + 64 * i, sizeof(tile), full);
      token = cuda::device::barrier_arrive_tx(full, 1, sizeof(tile));
    } else token = full.arrive();
    full.wait(std::move(token));
    sum += tile[threadIdx.x];
    __syncthreads();
  }
  o[threadIdx.x] = sum;
}"""


def test_the_wait_of_the_library_costs_few_instructions():
    """It looks at a clock to choose its pauses, and does not give up."""
    need_compiler()
    instructions = {}
    for timing in ("early", "late"):
        g, o = np.arange(256, dtype=np.int32), np.zeros(64, np.int32)
        report = simulate(LIBRARY, "k", 1, 64, [g, o, 4], arch="sm_90a", observers=("hazards",), timing=timing)
        assert np.array_equal(o, g.reshape(4, 64).sum(0)) and not report.hazards
        instructions[timing] = report.instructions
    assert instructions["late"] <= 4 * instructions["early"]
