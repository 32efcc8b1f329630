"""TMA and mbarriers on a GPU, bit by bit against the simulator. Needs sm_90 or newer."""

from pathlib import Path

import boxes as boxes_of_tests
import numpy as np
import pytest

import gpu_runner as device
import gpu_simulator
from gemm_lab import compiling
from gpu_runner.faults import KernelFault
from gpu_simulator.hardware import data_sheets as hardware
from gpu_simulator.hardware.tensor_map import TensorMap

SIMULATOR_TESTS = Path(__file__).resolve().parents[2] / "packages/gpu_simulator/tests" / "copies"

PRESENT = hardware.detect()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.available(), reason=device.why_not() or "a GPU"),
    pytest.mark.skipif(PRESENT is None or int(PRESENT.arch.strip("sm_af")) < 90, reason="TMA begins with 9.0"),
]
STATES = r"""
#include "config.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
#define ASK(NAME, TEXT, TYPE) __device__ uint32_t NAME(uint32_t b, TYPE s) { uint32_t d; \
  asm volatile("{.reg .pred p; " TEXT " p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(d) : "r"(b), TYPE##_OPERAND(s) : "memory"); return d; }
#define uint64_t_OPERAND(s) "l"(s)
#define int_OPERAND(s) "r"(s)
ASK(over, "mbarrier.test_wait.shared::cta.b64", uint64_t)
ASK(parity, "mbarrier.test_wait.parity.shared::cta.b64", int)
#define ARRIVE(FORM, COUNT) asm volatile("mbarrier." FORM ".shared::cta.b64 %0, [%1]" COUNT ";" : "=l"(s) : "r"(b) : "memory")
#define BYTES(FORM) asm volatile("mbarrier." FORM ";" :: "r"(b) : "memory")
__device__ uint32_t pending(uint64_t s) {
  uint32_t c;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(c) : "l"(s));
  return c;
}
extern "C" __global__ void __launch_bounds__(1) kernel(uint32_t* out) {
  __shared__ alignas(8) uint64_t bar;
  const uint32_t b = shared_address(&bar);
  uint64_t s;
  mbarrier_init(b, 5);
  *out++ = parity(b, 0); *out++ = parity(b, 1);
  ARRIVE("arrive", ""); *out++ = pending(s); *out++ = over(b, s);
  ARRIVE("arrive", ", 2"); *out++ = pending(s);
  ARRIVE("arrive.noComplete", ", 1"); *out++ = pending(s);
  ARRIVE("arrive_drop", ""); *out++ = pending(s); *out++ = over(b, s);
  *out++ = parity(b, 0); *out++ = parity(b, 1);
  ARRIVE("arrive", ", 4"); *out++ = pending(s); *out++ = parity(b, 1);
  BYTES("expect_tx.relaxed.cta.shared::cta.b64 [%0], 100");
  ARRIVE("arrive", ", 4"); *out++ = over(b, s);
  BYTES("complete_tx.relaxed.cta.shared::cta.b64 [%0], 60"); *out++ = over(b, s);
  BYTES("complete_tx.relaxed.cta.shared::cta.b64 [%0], 40"); *out++ = over(b, s); *out++ = parity(b, 0);
  BYTES("inval.shared::cta.b64 [%0]");
  mbarrier_init(b, 1);
  *out++ = parity(b, 1);
}
"""


def launch(compiled, args, grid=(1, 1, 1)):
    return device.launch(compiled, grid=grid, args=args, timeout_s=20)


def test_states_of_an_mbarrier():
    compiled = compiling.compile(STATES, arch=PRESENT.arch, name="states.cu", entry="kernel")
    expected = np.full(32, 7, np.uint32)
    gpu_simulator.launch(compiled, "kernel", 1, 1, [expected])
    assert np.array_equal(launch(compiled, [np.full(32, 7, np.uint32)])[0], expected)


@pytest.mark.parametrize("store", [False, True], ids=["load", "store"])
@pytest.mark.parametrize("box", list(boxes_of_tests.boxes()), ids=str)
def test_a_box(box, store):
    array, rng = box.array(), np.random.default_rng(1)
    compiled = boxes_of_tests.build(len(box.shape), store, PRESENT.arch)
    room = boxes_of_tests.ROOM // 4
    shared = rng.integers(0, 2**32, room, dtype=np.uint32) if store else np.zeros(room, np.uint32)
    done = np.zeros(1, np.uint32)
    if box.stops(store):
        with pytest.raises(KernelFault, match="CUDA_ERROR_ILLEGAL_INSTRUCTION"):
            launch(compiled, boxes_of_tests.arguments(box, box.tensor_map(array), shared, done))
        return
    kept = [array.copy(), shared.copy(), done.copy()]
    gpu_simulator.launch(compiled, "kernel", 1, 128, boxes_of_tests.arguments(box, box.tensor_map(kept[0]), *kept[1:]))
    found = launch(compiled, boxes_of_tests.arguments(box, box.tensor_map(array), shared, done))
    assert found[2][0] == 1, "the mbarrier's bytes never came"
    assert np.array_equal(found[0].view(np.uint8), kept[0].view(np.uint8))
    assert store or np.array_equal(found[1], kept[1])


@pytest.mark.parametrize("size", [(64, 64, 64), (128, 192, 448), (200, 136, 328), (1024, 1024, 1024)])
def test_a_ring_of_stages(size):
    m, n, k = size
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "NUM_STAGES": 3}
    source = (SIMULATOR_TESTS / "ring.cu").read_text()
    compiled = compiling.compile(source, arch=PRESENT.arch, name="ring.cu", entry="kernel", config=config)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    exact = (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16)
    maps = [TensorMap.of(x, (64, 64), 128) for x in (a, b, np.full((m, n), np.nan, np.float16))]
    assert np.array_equal(launch(compiled, [*maps, k], (-(-n // 64), -(-m // 64), 1))[2], exact)
