"""mma.sync on float64: fragments where the ISA puts them, every step rounded once."""

import numpy as np
import pytest

from gpu_simulator.hardware.mma_layouts import SHAPES, Mma

HEAD = 'extern "C" __global__ void kernel'


def fragments(matrix, where):
    """(registers, 32)"""
    return np.ascontiguousarray(matrix[where[..., 0], where[..., 1]])


def multiply(cuda, shape, a, b, c):
    wheres = [Mma(shape, "f64").coordinates(operand)[:, :, 0].swapaxes(0, 1) for operand in "ABC"]
    parts = [fragments(matrix, where) for matrix, where in zip((a, b, c), wheres, strict=True)]
    counts = [len(where) for where in wheres]
    at = [counts[2], counts[2] + counts[0]]
    names = lambda first, count: "{" + ", ".join(f"%{first + n}" for n in range(count)) + "}"  # noqa: E731
    accumulators = ", ".join(f'"+d"(d[{n}])' for n in range(counts[2]))
    inputs = ", ".join(
        f'"d"({name}[{32 * n} + t])' for name, count in zip("ab", counts, strict=False) for n in range(count)
    )
    source = (
        HEAD
        + f"""(const double* a, const double* b, const double* c, double* o) {{
      int t = threadIdx.x; double d[{counts[2]}];
      for (int i = 0; i < {counts[2]}; i++) d[i] = c[32 * i + t];
      asm volatile("mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64 {names(0, counts[2])}, "
        "{names(at[0], counts[0])}, {names(at[1], counts[1])}, {names(0, counts[2])};" : {accumulators} : {inputs});
      for (int i = 0; i < {counts[2]}; i++) o[32 * i + t] = d[i];
    }}"""
    )
    out = np.zeros((counts[2], 32))
    cuda(source, *parts, out, arch="sm_90")
    tile = np.zeros(c.shape)
    tile[wheres[2][..., 0], wheres[2][..., 1]] = out
    return tile


@pytest.mark.parametrize("shape", SHAPES["f64"])
def test_a_product_of_whole_numbers_is_exact(cuda, rng, shape):
    m, n, k = Mma(shape, "f64").mnk
    a, b, c = (rng.integers(-99, 99, extents).astype(np.float64) for extents in ((m, k), (k, n), (m, n)))
    assert np.array_equal(multiply(cuda, shape, a, b, c), a @ b + c)


def test_a_step_is_rounded_once(cuda):
    small = 2.0**-30
    a, b, c = np.zeros((8, 4)), np.zeros((4, 8)), np.full((8, 8), -1.0)
    a[:, 0], b[0] = 1 + small, 1 - small  # 1 - 2^-60: its last bit is lost unless the product stays exact
    assert (multiply(cuda, "m8n8k4", a, b, c) == -(2.0**-60)).all()


# ---- wmma of float64 ----

WMMA = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void kernel(const double* a, const double* b, const double* c, double* d) {

  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::LAYOUT_A> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::LAYOUT_B> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  wmma::load_matrix_sync(fa, a, 10);
  wmma::load_matrix_sync(fb, b, 12);
  wmma::load_matrix_sync(sum, c, 14, wmma::LAYOUT_C);
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 2;
  wmma::mma_sync(sum, fa, fb, sum);
  wmma::store_matrix_sync(d, sum, 16, wmma::LAYOUT_C);
}"""


def stored(matrix, layout, length):
    """The matrix in memory, by rows or by columns, with rows (columns) of `length` numbers."""
    lines = matrix if layout == "row" else matrix.T
    padded = np.full((len(lines), length), np.nan)
    padded[:, : lines.shape[1]] = lines
    return padded


@pytest.mark.parametrize("layouts", ["row row row", "row col row", "col row col", "col col col"])
def test_wmma_of_float64(cuda, rng, layouts):
    first, second, third = layouts.split()
    a, b, c = (rng.integers(-99, 99, extents).astype(np.float64) for extents in ((8, 4), (4, 8), (8, 8)))
    out = np.full((8, 16), np.nan)
    source = WMMA.replace("LAYOUT_A", f"{first}_major").replace("LAYOUT_B", f"{second}_major")
    source = source.replace("LAYOUT_C", f"mem_{third}_major")
    report = cuda(
        source, stored(a, first, 10), stored(b, second, 12), stored(c, third, 14), out, observers=("hazards",)
    )
    got = out[:, :8] if third == "row" else out[:, :8].T
    assert np.array_equal(got, a @ b + 2 * c) and np.isnan(out[:, 8:]).all() and report.hazards == []


def test_the_sectors_of_a_wmma_of_float64(cuda):
    """Rows of 32 bytes of A, columns of 32 bytes of B, rows of 64 bytes of C and D, each in sectors of its own."""
    source = WMMA.replace("LAYOUT_A", "row_major").replace("LAYOUT_B", "col_major")
    source = source.replace("LAYOUT_C", "mem_row_major").replace("10)", "4)").replace("12)", "4)")
    source = source.replace("14,", "8,").replace("16,", "8,")
    report = cuda(source, np.zeros(32), np.zeros(32), np.zeros(64), np.zeros(64))
    assert report.totals.sectors == 8 + 8 + 16 + 16
