"""A register that nothing has written holds anything on a GPU; here its use is reported, and floats hold NaN."""

import re

import numpy as np
import pytest

from gpu_simulator.faults import MemoryFault


def test_an_unwritten_float_is_nan_and_a_written_one_is_not(cuda):
    out = np.zeros(64, np.float32)
    cuda(
        """extern "C" __global__ void kernel(float* o) {
      float unset, set = 0.0f;
      asm volatile("{ .reg .f32 u; add.f32 %0, u, 1.0; }" : "=f"(unset));
      asm volatile("add.f32 %0, %1, 1.0;" : "=f"(set) : "f"(set));
      o[threadIdx.x] = unset, o[threadIdx.x + 32] = set;
    }""",
        out,
    )
    assert np.isnan(out[:32]).all() and (out[32:] == 1).all()


def test_a_branch_that_writes_only_some_lanes_leaves_the_others_alone(cuda):
    out = np.zeros(32, np.float32)
    cuda(
        """extern "C" __global__ void kernel(float* o) {
      float x;
      if (threadIdx.x % 3 == 0) x = threadIdx.x;
      else x = -1.0f;
      if (threadIdx.x % 5) o[threadIdx.x] = x;
    }""",
        out,
    )
    lanes = np.arange(32)
    assert np.array_equal(out, np.where(lanes % 5 == 0, 0, np.where(lanes % 3 == 0, lanes, -1)))


# ---- Whole numbers ----

CARRIED = """extern "C" __global__ void kernel(int* o, int n) {
  int last%s;
  for (int i = 0; i < n; i++) {
    %s
    last = last == 2 ? 0 : last + 1;
  }
}"""


def kinds(report):
    return [hazard.kind for hazard in report.hazards]


def test_a_variable_without_a_value_is_named_with_its_line_and_holds_something_else_each_time(cuda):
    source, seen = CARRIED % ("", "o[i] = last;"), []
    for _ in range(2):
        out = np.zeros(8, np.int32)
        report = cuda(source, out, 3, block=1, observers=("hazards",))
        assert kinds(report) == ["unwritten register"]
        assert "kernel.cu:4" in str(report.hazards[0]) and "as in last = 0" in str(report.hazards[0])
        seen.append(int(out[0]))
    assert seen[0] != seen[1]


def test_it_is_said_without_a_search_for_hazards_and_before_the_fault_that_it_causes(cuda):
    out = np.zeros(8, np.int32)
    report = cuda(CARRIED % ("", "o[i] = last;"), out, 3, block=1)
    assert not report.hazards and len(report.remarks) == 1 and "the value of last" in report.remarks[0]
    with pytest.raises(MemoryFault, match="the value of last, to which .* After that: .*accessed 4 bytes"):
        cuda(CARRIED % ("", "o[last] = i;"), out, 3, block=1)


@pytest.mark.parametrize(
    "source",
    [
        CARRIED % (" = 0", "o[i] = last;"),
        CARRIED % ("", "if (i) o[i] = last; else last = n;"),  # not used in the first round
        CARRIED % ("", "if (n > 9) o[i] = last;"),  # used in no round
    ],
)
def test_a_variable_that_is_set_before_it_is_used_is_not_reported(cuda, source):
    report = cuda(source, np.zeros(8, np.int32), 3, block=1, observers=("hazards",))
    assert not report.hazards and not report.remarks


ASSEMBLY = """extern "C" __global__ void kernel(int* o) {
  int x, odd = threadIdx.x & 1;
  asm volatile("{ .reg .b32 part; .reg .pred p; setp.ne.s32 p, %%1, 0; %s mov.b32 %%0, part; }" : "=r"(x) : "r"(odd));
  o[threadIdx.x] = x;
}"""


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("", "thread (0, 0, 0)"),
        ("@!p mov.b32 part, 4;", "thread (1, 0, 0)"),
        ("@p bra over; mov.b32 part, 5; over:", "thread (1, 0, 0)"),
        ("@p mov.b32 part, 3; @!p mov.b32 part, 4;", ""),
        ("selp.b32 part, 1, 2, p;", ""),
        ("xor.b32 part, part, part;", ""),
        ("{ .reg .b32 more; selp.b32 part, more, 2, p; } ", "thread (1, 0, 0)"),
    ],
)
def test_a_register_of_inline_assembly(cuda, text, who):
    report = cuda(ASSEMBLY % text, np.zeros(32, np.int32), observers=("hazards",))
    assert kinds(report) == ["unwritten register"] * bool(who)
    if who:
        assert who in str(report.hazards[0]) and "of the assembly at kernel.cu:3" in str(report.hazards[0])
        assert re.search(r"a value of (part|more), a register", str(report.hazards[0]))


def test_a_branch_by_a_predicate_that_nothing_has_written(cuda):
    source = """extern "C" __global__ void kernel(int* o) {
      asm volatile("{ .reg .pred q; @q bra away; st.global.u32 [%0], 1; away: }" :: "l"(o));
    }"""
    report = cuda(source, np.zeros(32, np.int32), block=1, observers=("hazards",))
    assert kinds(report) == ["unwritten register"] and "a value of q" in str(report.hazards[0])


def test_a_variable_that_the_compiler_leaves_out_is_named_by_its_warning(cuda):
    source = """extern "C" __global__ void kernel(int* o) {
      int place;
      o[place] = 1;
    }"""
    report = cuda(source, np.zeros(32, np.int32), block=1, observers=("hazards",))
    assert [hazard.severity for hazard in report.hazards] == ["suspicious"]
    assert str(report.hazards[0]).startswith("kernel.cu:3: the compiler warns that place is used")
    assert cuda(source, np.zeros(32, np.int32), block=1).remarks == [str(report.hazards[0])]
    once = cuda(
        source.replace("o[place]", 'asm("" : "+r"(place)); o[place & 7]'),
        np.zeros(32, np.int32),
        block=1,
        observers=("hazards",),
    )
    assert kinds(once) == ["unwritten register"] and "uses the value of place" in str(once.hazards[0])


def test_an_inspection_sees_what_the_launch_saw(cuda):
    out = np.zeros(8, np.int32)
    report = cuda(CARRIED % ("", "o[i] = last;"), out, 1, block=1)
    stored = next(site for site in report.sites if site.opcode.startswith("st.global") and site.executions)
    assert int(out.view(np.uint32)[0]) in [int(values[0]) for values in report.inspect(stored).registers.values()]


TILE = """extern "C" __global__ void kernel(const short* a, int* o, int m) {
  __shared__ short tile[64];
  short mine;
  if (threadIdx.x < m) mine = a[threadIdx.x];
  tile[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x < END) o[threadIdx.x] = tile[threadIdx.x ^ 1];
}"""


@pytest.mark.parametrize(("end", "who"), [("m", ""), ("m + 2", "thread (38, 0, 0)")])
def test_threads_beyond_an_edge_may_store_to_shared_memory_what_nobody_uses(cuda, end, who):
    report = cuda(
        TILE.replace("END", end), np.ones(64, np.int16), np.zeros(64, np.int32), 38, block=64, observers=("hazards",)
    )
    assert kinds(report) == ["unwritten register"] * bool(who)
    if who:
        assert f"{who} uses a value from shared memory that depends on mine, which nothing" in str(report.hazards[0])
        assert report.hazards[0].severity == "suspicious", "a sum with it, less itself, would be right"
