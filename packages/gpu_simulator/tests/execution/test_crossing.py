"""An array whose middle lies at a multiple of 4 GiB."""

import numpy as np
import pytest
from compiling import compile

from gpu_simulator import MemoryFault, Placement, launch
from gpu_simulator.machine.address_space import LINE_BYTES

COPY = """
extern "C" __global__ void copy(const int* from, int* to, unsigned long long* at) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
  at[0] = reinterpret_cast<unsigned long long>(from), at[1] = reinterpret_cast<unsigned long long>(to);
}
"""
IN_32_BITS = COPY.replace(
    "to[i] = from[i];",
    "const unsigned long long base = reinterpret_cast<unsigned long long>(from);"
    "to[i] = *reinterpret_cast<const int*>(base >> 32 << 32 | unsigned(unsigned(base) + i * 4));",
)


@pytest.mark.parametrize("crossing", [None, 0, 1])
def test_the_chosen_array_crosses_the_line_and_nothing_else_changes(crossing):
    values, copied, at = np.arange(4096, dtype=np.int32), np.zeros(4096, np.int32), np.zeros(2, np.uint64)
    launch(
        compile(COPY, arch="sm_75", entry="copy"),
        "copy",
        16,
        256,
        [values, copied, at],
        placement=Placement(crossing=crossing),
    )
    assert np.array_equal(values, copied)
    crosses = [int(start) // LINE_BYTES != (int(start) + values.nbytes - 1) // LINE_BYTES for start in at]
    assert crosses == [number == crossing for number in range(2)]


def test_addresses_in_32_bits_are_found():
    values, copied, at = np.arange(4096, dtype=np.int32), np.zeros(4096, np.int32), np.zeros(2, np.uint64)
    compiled = compile(IN_32_BITS, arch="sm_75", entry="copy")
    launch(compiled, "copy", 16, 256, [values, copied, at], placement=Placement(crossing=1))
    assert np.array_equal(values, copied)
    with pytest.raises(MemoryFault):
        launch(compiled, "copy", 16, 256, [values, copied, at], placement=Placement(crossing=0))
