"""Looking inside a run: registers, shared memory and addresses at a line."""

import numpy as np
import pytest

import gpu_simulator

SOURCE = """extern "C" __global__ void kernel(const int* in, int* out) {
  __shared__ int tile[64];
  int i = threadIdx.x;
  for (int k = 0; k < 3; k++) {
    tile[(i * 2) % 64] = in[i] + k;
    __syncthreads();
    out[i] = tile[63 - i | 1];
    __syncthreads();
  }
}"""


@pytest.fixture
def report(cuda):
    source = SOURCE.replace("63 - i | 1", "(i * 2) % 64")
    return cuda(source, np.arange(64, dtype=np.int32) * 10, np.zeros(64, np.int32), block=64)


def test_shared_memory_at_the_last_execution(report):
    snapshot = report.inspect(5, block=0, warp=1)
    tile = snapshot.shared_as(np.int32, "tile")
    assert np.array_equal(tile[::2], np.arange(32, 64) * 10 + 2)
    assert snapshot.active.all() and snapshot.opcode.startswith("st.shared")
    assert any(np.array_equal(v, np.arange(32, 64) * 10 + 2) for v in snapshot.registers.values())


def test_addresses_of_every_execution(report):
    accesses = [a for a in report.trace(5, block=(0, 0, 0), warp=1) if a.opcode.startswith("st.shared")]
    assert len(accesses) == 3
    for access in accesses:
        assert access.width == 4 and np.array_equal(access.addresses, (np.arange(32, 64) * 2 % 64) * 4)


def test_inspecting_changes_no_result(cuda):
    out = np.zeros(64, np.int32)
    report = cuda(SOURCE.replace("63 - i | 1", "(i * 2) % 64"), np.arange(64, dtype=np.int32), out, block=64)
    before = out.copy()
    report.inspect(5)
    assert np.array_equal(out, before)


def test_what_is_not_there(report):
    with pytest.raises(gpu_simulator.SimulatedFault, match="line 3000"):
        report.inspect(3000)
    with pytest.raises(gpu_simulator.SimulatedFault, match="no warp 7"):
        report.trace(5, warp=7)
    with pytest.raises(gpu_simulator.SimulatedFault, match="no block 4"):
        report.trace(5, block=4)


WAITS = """extern "C" __global__ void kernel(volatile int* flag, int* out) {
  if (blockIdx.x == 1) {
    while (flag[0] == 0) ;
  }
  out[blockIdx.x] = 1;
  flag[0] = 1;
}"""


@pytest.mark.long
@pytest.mark.parametrize("limits", [{"max_steps": 5_000}, {"max_seconds": 2.0}, {"max_instructions": 5_000}], ids=str)
def test_a_replay_keeps_the_limits_of_its_launch(cuda, limits):
    """Alone, block 1 waits for ever for what block 0 writes."""
    report = cuda(WAITS, np.zeros(1, np.int32), np.zeros(2, np.int32), grid=2, **limits)
    assert report.inspect(5, block=0).active.all()
    with pytest.raises(gpu_simulator.BudgetExceeded, match="it spins at kernel.cu:3"):
        report.inspect(5, block=1)


def test_many_blocks_that_end_are_not_said_to_spin(cuda):
    source = 'extern "C" __global__ void kernel(int* out) { out[threadIdx.x] = threadIdx.x; }'
    with pytest.raises(
        gpu_simulator.BudgetExceeded, match=r"^[\d,]+ of 1,048,576 blocks ran before .*: more than"
    ) as one:
        cuda(source, np.zeros(32, np.int32), grid=1 << 20, block=32, max_instructions=200_000)
    assert "spins" not in str(one.value) and one.value.line == 1


def test_one_of_many_blocks_that_waits_for_ever_spins(cuda):
    source = """extern "C" __global__ void kernel(volatile int* flag) {
  if (blockIdx.x == 3000) while (flag[0] == 0);
  flag[1] = 1;
}"""
    with pytest.raises(gpu_simulator.BudgetExceeded, match="it spins at kernel.cu:2"):
        cuda(source, np.zeros(2, np.int32), grid=4000, block=32, max_instructions=60_000)
