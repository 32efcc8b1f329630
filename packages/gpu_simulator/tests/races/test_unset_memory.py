"""Reads of memory that nothing has written: arrays that begin uninitialised, the heap, local memory."""

import re

import numpy as np
import pytest

import gpu_simulator
from gpu_simulator import LaunchError

HEAD = 'extern "C" __global__ void kernel'

SUM = """extern "C" __global__ void kernel(float* sum, const float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  START
  for (int k = 0; k < n; k++) sum[i] += a[k];
}"""


def kinds(report):
    return [hazard.kind for hazard in report.hazards]


@pytest.mark.parametrize(("start", "found"), [("sum[i] = 0;", []), ("", ["uninitialised read"]), ("if (i) sum[i] = 0;", ["uninitialised read"])])  # fmt: skip
def test_an_output_that_the_kernel_adds_to(cuda, start, found):
    total, a = np.zeros(64, np.float32), np.ones(5, np.float32)
    report = cuda(SUM.replace("START", start), total, a, 5, grid=2, observers=("hazards",), uninit=[0])
    assert kinds(report) == found and (total[-1] == 5 or not start)
    if found:
        assert "reads sum[0], which nothing has written." in str(report.hazards[0])
        assert np.isnan(total[0])
    assert not cuda(SUM.replace("START", ""), np.zeros(64, np.float32), a, 5, grid=2, observers=("hazards",)).hazards


def test_what_the_kernel_does_not_write_stays_nan_and_halves_of_a_vector_count_apart(cuda):
    source = """extern "C" __global__ void kernel(float2* pairs, float* o) {
      pairs[threadIdx.x].x = 1;
      __syncwarp();
      o[threadIdx.x] = READ;
    }"""
    pairs, out = np.zeros((32, 2), np.float32), np.zeros(32, np.float32)
    assert not cuda(
        source.replace("READ", "pairs[31 - threadIdx.x].x"), pairs, out, observers=("hazards",), uninit=[0, 1]
    ).hazards
    assert (pairs[:, 0] == 1).all() and np.isnan(pairs[:, 1]).all() and (out == 1).all()
    report = cuda(
        source.replace("READ", "pairs[31 - threadIdx.x].y"), pairs, out, observers=("hazards",), uninit=[0, 1]
    )
    assert kinds(report) == ["uninitialised read"] and "byte 252 of pairs" in str(report.hazards[0])


def test_an_atomic_reads_as_well(cuda):
    source = 'extern "C" __global__ void kernel(int* o) { atomicAdd(o, 1); }'
    report = cuda(source, np.zeros(1, np.int32), observers=("hazards",), uninit=[0])
    assert kinds(report) == ["uninitialised read"] and "updates o[0]" in str(report.hazards[0])


@pytest.mark.parametrize(
    ("number", "says"), [(1, "argument 1 is not an array; these are: 0 "), (7, "7 is not"), ("0.1", "argument 0.1 is")]
)
def test_only_an_array_is_uninitialised(cuda, number, says):
    with pytest.raises(LaunchError, match=says):
        cuda('extern "C" __global__ void kernel(int* o, int n) { }', np.zeros(1, np.int32), 3, uninit=[number])


STRUCTS = """struct Small { char c; int i; };   // three bytes of padding behind c
struct Large { double d; int i; };  // four at the end
struct Inner { int i; double d; };  // four in between
extern "C" __global__ void kernel(KIND* out, int n) {
  WHERE KIND a[32];
  for (int i = threadIdx.x; i < 32; i += 32) { SET }
  __syncthreads();
  USE
}"""
COPIED, ADDED = "out[threadIdx.x] = a[(threadIdx.x + n) % 32];", "out[threadIdx.x].i = 1 + *(int*)(a + n);"


@pytest.mark.parametrize(("kind", "values", "use", "severities"), [
    ("Small", "a[i].c = n; a[i].i = n;", COPIED, {"suspicious"}),
    ("Large", "a[i].d = n; a[i].i = n;", COPIED, {"suspicious"}),
    ("Inner", "a[i].i = n; a[i].d = n;", COPIED, {"suspicious"}),
    ("Small", "a[i].c = n;", COPIED, {"error"}),  # a member is missing
    ("Large", "a[i].i = n;", COPIED, {"error"}),
    ("Small", "a[i].c = n; a[i].i = n;", ADDED, {"error"}),  # not only copied
])  # fmt: skip
def test_the_padding_of_a_struct_may_be_copied(cuda, kind, values, use, severities):
    source = STRUCTS.replace("SET", values).replace("USE", use).replace("KIND", kind)
    report = cuda(source.replace("WHERE", "__shared__"), np.zeros(512, np.uint8), 0, observers=("hazards",))
    assert {hazard.severity for hazard in report.hazards} == severities
    assert all(("padding" in str(hazard)) == (severities == {"suspicious"}) for hazard in report.hazards)


@pytest.mark.parametrize(
    ("values", "found"), [("a[i].c = n; a[i].i = n;", []), ("a[i].c = n;", ["unwritten register"])]
)
def test_in_local_memory_too(cuda, values, found):
    source = STRUCTS.replace("SET", values).replace("USE", COPIED).replace("KIND", "Small").replace("WHERE", "")
    report = cuda(
        source.replace("= threadIdx.x; i < 32; i += 32", "= 0; i < 32; i++"),
        np.zeros(512, np.uint8),
        0,
        observers=("hazards",),
    )
    assert kinds(report) == found


HEAP = """extern "C" __global__ void kernel(int* o, int n) {
  int* p = (int*)malloc(n * sizeof(int));
  for (int i = FIRST; i < n; i++) p[i] = i;
  int sum = 0;
  for (int i = 0; i < n; i++) sum += p[i];
  free(p);
  o[threadIdx.x] = sum;
}"""


@pytest.mark.parametrize(("first", "found"), [("0", []), ("1", ["uninitialised read"])])
def test_memory_of_malloc(cuda, first, found):
    report = cuda(HEAP.replace("FIRST", first), np.zeros(4, np.int32), 3, block=4, observers=("hazards",))
    assert kinds(report) == found
    if found:
        assert "reads byte 0 of the memory of malloc, call 1, which nothing has written" in str(report.hazards[0])


LOCAL = """struct Pair { int first, second; };
__device__ __noinline__ int second_of(Pair p) { return p.second; }
extern "C" __global__ void kernel(int* o, int n) {
  int steps[8];
  START
  o[threadIdx.x] = steps[threadIdx.x % 8];
}"""


@pytest.mark.parametrize(
    ("start", "lane"),
    [
        ("for (int i = 0; i < n; i++) steps[i] = i;", 5),
        ("for (int i = 0; i < 8; i++) steps[i] = i;", None),
        ("steps[threadIdx.x % 8] = n;", None),
        ("if (threadIdx.x % 8 != 3) steps[(threadIdx.x + n - 5) % 8] = n;", 3),
        (
            "for (int i = 1; i < n; i++) steps[i] = i; for (int i = n; i-- > 1; ) steps[i] = steps[i - 1]; steps[0] = 7;",
            1,
        ),
        (
            "int copy[8]; for (int i = 0; i < n; i++) copy[i] = i; for (int i = 0; i < 8; i++) steps[i] = copy[i];"
            "if (threadIdx.x % 8 >= n) steps[threadIdx.x % 8] = 2;",
            None,
        ),
    ],
)
def test_an_array_in_local_memory(cuda, start, lane):
    report = cuda(LOCAL.replace("START", start), np.zeros(32, np.int32), 5, observers=("hazards",))
    assert kinds(report) == ["unwritten register"] * (lane is not None)
    if lane is not None:
        assert f"thread ({lane}, 0, 0) uses a value of steps, read at kernel.cu:" in str(report.hazards[0])
        assert "in local memory, where nothing has written" in str(report.hazards[0])


def test_a_part_of_a_structure_that_nobody_uses_may_be_unset(cuda):
    source = """struct Many { float4 rows[6]; int used; };
    __device__ __noinline__ float sum(Many m) { float s = 0; for (int i = 0; i < m.used; i++) s += m.rows[i].x; return s; }
    extern "C" __global__ void kernel(float* o, int n) {
      Many many;
      many.used = n;
      for (int i = 0; i < n; i++) many.rows[i].x = i;
      o[threadIdx.x] = sum(many);
    }"""
    out = np.zeros(32, np.float32)
    report = cuda(source, out, 4, observers=("hazards",))
    assert not report.hazards and (out == 6).all()


@pytest.mark.parametrize(
    ("kind", "value", "use"),
    [("int*", "(int*)malloc(128)", "p[threadIdx.x] = 1; out[threadIdx.x] = p[threadIdx.x];"), ("int", "sum(n)", "out[threadIdx.x] = p;")],
)  # fmt: skip
@pytest.mark.parametrize("repair", ["", "__syncwarp();"])
def test_what_lane_0_publishes(repair, kind, value, use, cuda):
    """The other lanes come first where the compiler has put the way around the branch first."""
    source = f"""__device__ __noinline__ int sum(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += i * i ^ n; return s; }}
    {HEAD}(int* out, int n) {{
      __shared__ {kind} shared;
      if (threadIdx.x == 0) shared = {value};
      {repair}
      {kind} p = shared;
      {use}
    }}"""
    out = np.zeros(32, np.int32)
    try:
        said = [str(hazard) for hazard in cuda(source, out, 3, observers=("hazards",)).hazards]
    except gpu_simulator.MemoryFault as fault:
        said = [str(fault)]
        assert "After that:" in said[0], "the cause stands before its effect"
    if repair:
        assert said == []
        return
    wanted = r"kernel.cu:6, ld.*reads shared \(shared address 0\).*another lane of its warp writes at kernel.cu:4, .*__syncwarp"
    assert re.search(wanted, said[0]) and "nothing has written" not in said[0]
