"""`__constant__` and `__device__` variables that a host program would fill: given, kept, or reported if nobody does."""

import numpy as np
import pytest
from compiling import need_compiler

from gpu_simulator import LaunchError, simulate

SOURCE = """
#include <vector>
struct Line { float slope; int start; };
__constant__ Line line;
__constant__ float weights[4];
__device__ unsigned count;
__device__ int squares[32];
namespace table { __device__ float scale; }

__global__ void fill() { squares[threadIdx.x] = threadIdx.x * threadIdx.x; }
__global__ void read(int* o) { o[threadIdx.x] = squares[threadIdx.x]; }
__global__ void weigh(float* o) { o[threadIdx.x] = weights[threadIdx.x & 3] * table::scale; }
__global__ void straight(float* o) { o[threadIdx.x] = line.slope * threadIdx.x + line.start; }
__global__ void tickets(unsigned* o) { o[threadIdx.x] = atomicAdd(&count, 1u); }
__device__ void raise(unsigned* at) { *at += 1; }
__global__ void by_pointer(unsigned* o) { if (threadIdx.x == 0) raise(&count); __syncthreads(); o[threadIdx.x] = count; }
int main() { float h[4] = {}; cudaMemcpyToSymbol(weights, h, sizeof h); }
"""


@pytest.fixture(autouse=True)
def compiler():
    need_compiler()


def run(kernel: str, out=None, **options):
    return simulate(SOURCE, kernel, 1, 32, [] if out is None else [out], **options)


def test_constants_by_name_and_a_number_for_one_in_a_namespace():
    out, weights = np.zeros(32, np.float32), np.array([1, 2, 4, 8], np.float32)
    report = run("weigh", out, symbols={"weights": weights, "table::scale": 0.5}, observers=("hazards",))
    assert np.array_equal(out, np.tile(weights, 8) / 2) and not report.hazards


def test_a_struct_is_bytes():
    out = np.zeros(32, np.float32)
    run("straight", out, symbols={"line": np.float32(2).tobytes() + np.int32(7).tobytes()})
    assert np.array_equal(out, 2 * np.arange(32) + 7)


def test_what_one_launch_writes_the_next_one_is_given():
    squares, out = np.zeros(32, np.int32), np.zeros(32, np.int32)
    assert not run("fill", symbols={"squares": squares}, observers=("hazards",)).hazards
    assert not run("read", out, symbols={"squares": squares}, observers=("hazards",)).hazards
    assert np.array_equal(out, np.arange(32) ** 2)


@pytest.mark.parametrize(("kernel", "dtype", "names"), [("read", "i4", ["squares"]), ("weigh", "f4", ["weights", "table::scale"])])  # fmt: skip
def test_one_that_nobody_fills_is_named(kernel, dtype, names):
    report = run(kernel, np.zeros(32, dtype), observers=("hazards",))
    assert [hazard.kind for hazard in report.hazards] == ["unset variable"] * len(names)
    for name in names:
        assert any(f"reads {name}, which is zeros here" in said for said in map(str, report.hazards))
    assert run(kernel, np.zeros(32, dtype)).remarks == [str(hazard) for hazard in report.hazards]


@pytest.mark.parametrize(("value", "said"), [("", 1), (" = {0}", 0), (" {}", 0)])
def test_one_that_the_source_sets_to_zero_is_filled(value, said):
    source = f"__constant__ int first, table[4]{value};\n__global__ void kernel(int* o) {{ o[0] = table[o[0] & 3]; }}"
    assert len(simulate(source, None, 1, 1, [np.zeros(1, np.int32)]).remarks) == said


@pytest.mark.parametrize("kernel", ["tickets", "by_pointer"])
def test_a_counter_of_the_kernel_itself_begins_at_zero(kernel):
    out = np.zeros(32, np.uint32)
    report = run(kernel, out, observers=("hazards",))
    assert not report.hazards and not report.remarks and out.max() in (1, 31)


@pytest.mark.parametrize(
    ("symbols", "says"),
    [
        ({"weight": 1.0}, "no variable called weight; it has line, weights, count, squares, table::scale"),
        ({"weights": np.zeros(3, np.float32)}, "weights has 16 bytes, and an array of 3 float32 of 12 bytes was given"),
        ({"weights": np.zeros(4)}, "weights cannot hold float64"),
        ({"weights": np.zeros(4, np.int32)}, "weights cannot hold int32, because the kernel loads floats from it"),
        ({"weights": 1.0}, "weights has 16 bytes and is given by an array or by bytes"),
        ({"table::scale": "much"}, "not by 'much'"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(symbols, says):
    with pytest.raises(LaunchError, match=says):
        run("weigh", np.zeros(32, np.float32), symbols=symbols)
