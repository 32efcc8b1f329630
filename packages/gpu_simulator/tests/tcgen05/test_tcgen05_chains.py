"""Chains of tcgen05.cp, shift and mma that one thread issues: which need no wait, and what they compute.

Row r of A holds r % 64 and B is all ones, so that D[r] is 16 times the row that was multiplied.
"""

import re

import numpy as np
import pytest
from tensor_frame import AFTER, END, LOAD, START, WAIT, launch

FILL = """
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {        // 128 rows of 32 bytes, in two columns of chunks
    const uint32_t half = __float_as_uint(float(i % 64)) >> 16, both = half << 16 | half;
    tiles[i] = make_uint4(both, both, both, both);
  }
"""
ISSUE = """
  const uint64_t rows = 1ull << 46 | 8ull << 32 | 128ull << 16 | (tile & 0x3ffff) >> 4;    // 8 rows are 128 bytes
  const auto copy = [&] { asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" :: "r"(base + 64), "l"(rows) : "memory"); };
  const auto renew = [&] {
    asm volatile("tcgen05.cp.cta_group::1.4x256b [%0], %1;" :: "r"(base + 64 + (31 << 16)), "l"(rows) : "memory");
  };
  const auto shift = [&] {
    for (int q = 0; q < 4; q++)
      asm volatile("tcgen05.shift.cta_group::1.down [%0];" :: "r"(base + 64 + (q * 32 << 16)) : "memory");
  };
  const auto product = [&](int more) {
    asm volatile("{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %4, 0;\\n\\t"
                 "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\\n\\t}" :: "r"(base), "r"(base + 64),
                 "l"(tcgen05_descriptor_k_major_128b(tile + 16384)), "r"(WORD), "r"(more) : "memory");
  };
  if (threadIdx.x == 64) { OPERATIONS tcgen05_commit<1>(barrier); }
"""
FENCE = '  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n'


def run(operations: str, timing: str = "late"):
    start = START.replace("(slot, 64)", "(slot, 128)").replace(FENCE, FILL.join(("  __syncthreads();\n", FENCE)))
    assert FILL in start
    body = start + ISSUE.replace("OPERATIONS", operations) + WAIT + AFTER + LOAD + END.replace("64", "128")
    out, report = launch(body, timing=timing)
    return out[:1024].reshape(128, 8), report


LAST = np.arange(128) % 32 == 31  # the last row of each quarter


def down(rows):
    """The rows of A that lie in tensor memory after a shift; the last one of each quarter stays."""
    return np.where(LAST, rows, np.roll(rows, -1))


def renewed(rows):
    """After a shift, and a tcgen05.cp.4x256b of A's rows 0 to 3 to the last lanes."""
    return np.where(LAST, np.arange(128) // 32, down(rows))


FIRST = np.arange(128)


def product(*factors) -> np.ndarray:
    """D, for the sum of products with these rows of A."""
    return sum(16.0 * (rows % 64) for rows in factors)[:, None] * np.ones((1, 8))


@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize(
    ("operations", "want"),
    [
        ("copy(); product(0);", product(FIRST)),
        ("copy(); product(0); product(1);", product(FIRST, FIRST)),
        ("copy(); product(0); shift(); product(0);", product(down(FIRST))),
        ("copy(); product(0); shift(); product(1);", product(FIRST, down(FIRST))),
        ("copy(); product(0); shift(); renew(); product(0);", product(renewed(FIRST))),
        (
            "copy(); for (int i = 0; i < 3; i++) { product(i); shift(); renew(); }",
            product(FIRST, renewed(FIRST), renewed(renewed(FIRST))),
        ),
    ],
)
def test_chains_that_need_no_wait(operations, want, timing):
    got, report = run(operations, timing)
    assert np.array_equal(got, want) and report.hazards == [], [str(hazard) for hazard in report.hazards]


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ("copy(); product(0); copy();", "a tcgen05.cp may overtake the tcgen05.mma before it"),
        ("copy(); product(0); renew();", "a tcgen05.cp may overtake the tcgen05.mma before it"),
        ("copy(); shift(); product(0);", "a tcgen05.shift may overtake the tcgen05.cp before it"),
        ("copy(); product(0); shift(); copy();", "a tcgen05.cp may overtake the tcgen05.shift before it"),
    ],
)
def test_chains_that_need_a_wait(operations, words):
    _, report = run(operations)
    assert any(h.kind == "missing wait" and re.search(words, h.message) for h in report.hazards), report.hazards
