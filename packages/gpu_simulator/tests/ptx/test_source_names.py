"""What messages call the arrays of a kernel: as its source does, where it is known, and by number or address if not."""

import numpy as np
import pytest

from gpu_simulator import MemoryFault, simulate
from gpu_simulator.ptx.source_names import SourceNames

SOURCE = """struct Pair { float* from; int n; };
template <typename T> __global__ void k(const T* in, double* out, Pair p, int n) {
  __shared__ float tile[2][33], plain[64], *pointer;
  extern __shared__ float dynamic[];
  in[n];
}"""


@pytest.mark.parametrize(
    "name, at, called, element",
    [
        ("argument 0", 8, "in", "in[2]"),
        ("argument 0", -4, "in", "in[-1]"),
        ("argument 0", 2, "in", ""),
        ("argument 1", 8, "out", "out[1]"),
        ("argument 2.0", 4, "p.from", "p.from[1]"),
        ("argument 2.7", 4, "argument 2.7", ""),
        ("argument 4", 4, "argument 4", ""),
        ("the pointers of argument 1", 8, "the pointers of out", ""),
        ("counter", 4, "counter", ""),
    ],
)
def test_an_array_is_called_as_its_parameter(name, at, called, element):
    names = SourceNames("_Z1kIfEvPKT_Pd4Pairi", SOURCE)
    assert (names.array(name), names.element(name, at)) == (called, element)
    unknown = SourceNames("_Z1kIfEvPKT_Pd4Pairi")
    assert (unknown.array(name), unknown.element(name, at)) == (name, "")


@pytest.mark.parametrize(
    "name, at, element",
    [("tile", 4 * 33 + 12, "tile[1][3]"), ("plain", 256, "plain[64]"), ("plain", 6, ""), ("dynamic", 4, "dynamic[1]"),
     ("pointer", 0, ""), ("other", 0, "")],
)  # fmt: skip
def test_a_byte_of_a_shared_array_is_its_element(name, at, element):
    assert SourceNames("k", SOURCE).shared_element(name, at) == element
    raw = SOURCE.replace("float dynamic", "unsigned char dynamic")
    assert SourceNames("k", raw).shared_element("dynamic", 4) == "", "it may hold several arrays"


def test_a_fault_names_the_element_and_what_dynamic_memory_needs():
    source = "__global__ void k(float* x, int n) { extern __shared__ float s[]; s[threadIdx.x] = 1; x[n] = s[0]; }"
    with pytest.raises(
        MemoryFault, match=r"accessed 4 bytes .* would be x\[64\], 0 bytes past the end of x \(64 elements, 256 bytes\)"
    ):
        simulate(source, "k", 1, 32, [np.zeros(64, np.float32), 64], dynamic_smem_bytes=128)
    with pytest.raises(MemoryFault, match=r"would be s\[16\], but.*the extern __shared__ array s 64, and this access needs 68.*"
                                          "--smem 68"):  # fmt: skip
        simulate(source, "k", 1, 32, [np.zeros(64, np.float32), 64], dynamic_smem_bytes=64)
