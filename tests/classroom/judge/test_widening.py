"""The largest numbers of 32 bits that a kernel extends to 64, counted on one block."""

import compiling
import numpy as np
import pytest

from gemm_lab_classroom.judge.widening import widened

KERNEL = """extern "C" __global__ void kernel(float* p, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) { OFFSET; p[at] = 1; }
}"""
# (how the offset is computed, whether its widening is signed, the largest magnitude)
OFFSETS = [
    ("unsigned at = row * columns", False, 63 * 100),
    ("size_t at = size_t(row) * columns", True, 100),  # row and columns are extended, and the product has 64 bits
    ("unsigned at = row * columns + 7u", False, 63 * 100 + 7),
    ("size_t at = size_t(float(row) * float(columns))", False, 63 * 100),
    ('size_t at; asm("mov.b64 %0, {%1, %2};" : "=l"(at) : "r"(row * columns), "r"(0))', False, 63 * 100),
    ("size_t at = static_cast<int>(p + size_t(row) * columns - p)", True, 63 * 100),  # by shifts of 64 bits
    ("size_t at = size_t(row) * columns & 0xffffffff", False, 63 * 100),
]


def largest(offset, rows=64, columns=100, number=1, arch="sm_80"):
    compiled = compiling.compile(KERNEL.replace("OFFSET", offset), arch=arch, name="kernel.cu", entry="kernel")
    p = np.zeros(rows * columns + 8, np.float32)
    found = widened(compiled, 2, 32, [p, rows, columns], number)
    assert not p.any()  # the caller's array is left alone
    return found


@pytest.mark.parametrize(("offset", "signed", "most"), OFFSETS)
def test_the_largest_number_of_the_block(offset, signed, most):
    found = largest(offset)
    place, value = max(found.items(), key=lambda item: item[1])
    assert (place.signed, value) == (signed, most)
    assert (place.file, place.line) == ("kernel.cu", 3)


def test_lanes_that_do_not_execute_do_not_count():
    assert max(largest(OFFSETS[0][0], rows=40).values()) == 39 * 100
    assert largest(OFFSETS[0][0], rows=20) == {}  # no thread of block 1 has a row


def test_another_block_has_other_numbers():
    assert max(largest(OFFSETS[0][0], number=0).values()) == 31 * 100


def test_negative_numbers_count_by_their_magnitude():
    place, value = max(largest("int at = 63 - row; p += at").items(), key=lambda item: item[1])
    assert place.signed and value == 31
