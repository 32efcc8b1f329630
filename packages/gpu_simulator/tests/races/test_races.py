"""Races on global memory and within a warp: found in broken kernels, not invented in right ones."""

import re

import compiling
import numpy as np
import pytest
from mutants import mutants, weakened

import gpu_simulator

HEAD = 'extern "C" __global__ void kernel'


def built(source, arch="sm_80"):
    return compiling.compile(source, arch=arch, name="kernel.cu", entry="kernel")


def races(report):
    return [str(h) for h in report.hazards if h.kind == "race"]


# ---- Between blocks and warps, on global memory ----


def test_two_blocks_on_one_address_are_named(cuda):
    body = "{\n  if (blockIdx.x == 0) p[threadIdx.x] = a[0];\n  else p[threadIdx.x + 30] = 5;\n}"
    source = HEAD + "(int* a, int* p) " + body
    (text,) = races(cuda(source, np.zeros(4, np.int32), np.zeros(64, np.int32), grid=2, observers=("hazards",)))
    first, second = (
        rf"kernel.cu:{line}.*block \({block}, 0, 0\), thread \({thread}, 0, 0\) of warp 0 writes p\[30\]"
        for line, block, thread in ((2, 0, 30), (3, 1, 0))
    )
    assert re.search(first, text) or re.search(second, text)
    assert "kernel.cu:2" in text and "kernel.cu:3" in text
    assert "block (0, 0, 0), thread (30, 0, 0)" in text and "block (1, 0, 0), thread (0, 0, 0)" in text
    assert "one thread alone" in text and "fence" not in text and "same value" not in text


def test_blocks_that_write_the_same_value_are_told_so(cuda):
    source = HEAD + "(int* p) { p[threadIdx.x] = 7; }"
    (text,) = races(cuda(source, np.zeros(32, np.int32), grid=3, observers=("hazards",)))
    assert "Both write the same value" in text
    assert races(cuda(source, np.zeros(32, np.int32), grid=1, observers=("hazards",))) == []


def test_a_block_that_reads_what_its_neighbour_changes(cuda):
    source = HEAD + "(int* p) {\n  int i = blockIdx.x * 64 + threadIdx.x;\n  p[i] = p[i + 1];\n}"
    for grid, block in ((2, 64), (1, 128)):
        found = races(
            cuda(
                source.replace("64", str(block)),
                np.arange(129, dtype=np.int32),
                grid=grid,
                block=block,
                observers=("hazards",),
            )
        )
        assert found and all("kernel.cu:3" in text for text in found)
        assert any("read at" in text for text in found)
    apart = source.replace("(int* p)", "(const int* q, int* p)").replace("p[i + 1]", "q[i + 1]")
    p = np.zeros(129, np.int32)
    assert races(cuda(apart, np.arange(129, dtype=np.int32), p, grid=2, block=64, observers=("hazards",))) == []


def test_warps_of_a_block_need_a_barrier_for_global_memory(cuda):
    source = (
        HEAD + "(int* p, int* q) { p[threadIdx.x] = 3 * threadIdx.x; BARRIER q[threadIdx.x] = p[127 - threadIdx.x]; }"
    )
    p, q = np.zeros(128, np.int32), np.zeros(128, np.int32)
    assert races(cuda(source.replace("BARRIER", "__syncthreads();"), p, q, block=128, observers=("hazards",))) == []
    (text,) = races(cuda(source.replace("BARRIER", ""), p, q, block=128, observers=("hazards",)))
    assert "no barrier" in text and "reads p[127]" in text


def test_a_counter_needs_an_atomic(cuda):
    source = HEAD + "(int* p) { if (threadIdx.x == 0) ADD; }"
    p = np.zeros(1, np.int32)
    assert races(cuda(source.replace("ADD", "atomicAdd(p, 1)"), p, grid=4, observers=("hazards",))) == [] and p[0] == 4
    assert races(cuda(source.replace("ADD", "p[0]++"), p, grid=4, observers=("hazards",)))
    mixed = HEAD + "(int* p) { if (threadIdx.x == 0) { if (blockIdx.x) atomicAdd(p, 1); else p[0] = 9; } }"
    assert any("updates" in text or "writes" in text for text in races(cuda(mixed, p, grid=4, observers=("hazards",))))


def test_vectors_and_narrow_stores_share_the_same_bytes(cuda):
    source = HEAD + "(float4* p, unsigned char* q) { p[threadIdx.x].x = 1; q[16 * threadIdx.x + AT] = 2; }"
    p = np.zeros((32, 4), np.float32)
    # One thread after the other in one block is fine; another block may not touch the byte.
    assert races(cuda(source.replace("AT", "2"), p, p, observers=("hazards",))) == []
    other = source.replace(
        "p[threadIdx.x].x = 1;", "if (blockIdx.x == 0) { p[threadIdx.x] = make_float4(1, 1, 1, 1); return; }"
    )
    for at in (2, 15):
        (text,) = races(cuda(other.replace("AT", str(at)), p, p, grid=2, observers=("hazards",)))
        assert f"byte {at} of p" in text


# Kernels in which blocks or warps do exchange data, rightly. Removing any one of what orders them is found.

LAST_BLOCK = (
    HEAD
    + """(const int* in, int* partial, unsigned* count, int* out) {
  __shared__ bool last;
  __shared__ int s[64];
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int d = 32; d; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += 64) sum += partial[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 32; d; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
  if (threadIdx.x == 0) { *out = s[0]; *count = 0; }
}"""
)

LOOK_BACK = (
    HEAD
    + """(const int* in, int* out, volatile int* ready, int* total) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x) { while (ready[blockIdx.x - 1] == 0); __threadfence(); before = total[blockIdx.x - 1]; }
    out[blockIdx.x] = total[blockIdx.x] = before + in[blockIdx.x];
    __threadfence(); ready[blockIdx.x] = 1;
  }
}"""
)

RELEASE = (
    HEAD
    + """(const int* in, int* out, int* ready, int* total) {
  if (threadIdx.x == 0) {
    int before = 0, seen = blockIdx.x == 0;
    while (!seen) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(ready + blockIdx.x - 1) : "memory");
    if (blockIdx.x) before = total[blockIdx.x - 1];
    out[blockIdx.x] = total[blockIdx.x] = before + in[blockIdx.x];
    asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(ready + blockIdx.x), "r"(1) : "memory");
  }
}"""
)

GRID_BARRIER = (
    HEAD
    + """(const int* in, int* out, unsigned* arrived, int* middle) {
  int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  middle[i] = 3 * in[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*(volatile unsigned*)arrived < gridDim.x);
    __threadfence();
  }
  __syncthreads();
  out[i] = middle[n - 1 - i];
}"""
)

LOCK = (
    HEAD
    + """(const int* in, int* out, int* lock, int* sum) {
  if (threadIdx.x == 0) { while (atomicCAS(lock, 0, 1) != 0) { } __threadfence(); }
  __syncthreads();
  if (threadIdx.x < 33) sum[threadIdx.x] += in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) { __threadfence(); atomicExch(lock, 0); }
}"""
)


FIRST_VALUE = (
    HEAD
    + """(double* sum, int* out) {
  unsigned long long* place = (unsigned long long*)sum, old = *place, assumed;
  do {
    assumed = old;
    old = atomicCAS(place, assumed, __double_as_longlong(1.0 + __longlong_as_double(assumed)));
  } while (assumed != old);
}"""
)


@pytest.mark.parametrize(("change", "severities"), [
    (("", ""), {"suspicious"}),
    (("old = *place,", "old = *(volatile unsigned long long*)place,"), set()),
    (("do {", "out[threadIdx.x + 64 * blockIdx.x] = (int)old;\n  old = 0;\n  do {"), {"race"}),  # nobody compares it
])  # fmt: skip
def test_a_plain_read_that_atomiccas_compares_again_is_only_suspicious(cuda, change, severities):
    total, out = np.zeros(1), np.zeros(128, np.int32)
    report = cuda(FIRST_VALUE.replace(*change), total, out, grid=2, block=64, observers=("hazards",))
    assert total[0] == 128
    assert {hazard.severity for hazard in report.hazards} == severities
    assert all(("atomicCAS compares" in str(hazard)) == (severities != {"race"}) for hazard in report.hazards)


def exchange(kernel, name, blocks=6):
    """(races found, result as it should be) of one of the kernels above."""
    a = np.random.default_rng(3).integers(1, 99, blocks * 64).astype(np.int32)
    out, flags, middle = np.zeros(blocks * 64, np.int32), np.zeros(blocks, np.int32), np.zeros(blocks * 64, np.int32)
    arguments = [a, middle, flags[:1].copy(), out] if name == "LAST_BLOCK" else [a, out, flags, middle]
    report = gpu_simulator.launch(
        kernel, "kernel", blocks, 64, arguments, observers=("hazards",), max_instructions=300_000
    )
    right = {
        "LAST_BLOCK": lambda: out[0] == a.sum(),
        "LOOK_BACK": lambda: np.array_equal(out[:blocks], np.cumsum(a[:blocks])),
        "RELEASE": lambda: np.array_equal(out[:blocks], np.cumsum(a[:blocks])),
        "GRID_BARRIER": lambda: np.array_equal(out, 3 * a[::-1]),
        "LOCK": lambda: np.array_equal(middle[:33], a.reshape(blocks, 64).sum(0)[:33]),
    }[name]()
    return report.hazards, right


EXCHANGES = {
    "LAST_BLOCK": LAST_BLOCK,
    "LOOK_BACK": LOOK_BACK,
    "RELEASE": RELEASE,
    "GRID_BARRIER": GRID_BARRIER,
    "LOCK": LOCK,
}
# Statements that nobody misses: the last barrier of a tree sum, after which the thread that wrote the sum reads it.
NOT_NEEDED = {"LAST_BLOCK": ["bar.sync"] * 2}


@pytest.mark.parametrize("name", EXCHANGES)
def test_blocks_that_exchange_data_rightly(name):
    assert exchange(built(EXCHANGES[name]), name) == ([], True)


@pytest.mark.parametrize("name", EXCHANGES)
def test_what_orders_the_blocks_is_missed(name):
    made = built(EXCHANGES[name])
    broken = list(mutants(made.ptx)) + list(weakened(made.ptx))
    assert len(broken) >= 2
    missed = [re.match(r"\w+(\.sync)?", m.statement)[0] for m in broken if not caught(m, name)]
    assert missed == NOT_NEEDED.get(name, [])


def caught(mutant, name):
    try:
        hazards, right = exchange(mutant.ptx, name)
    except gpu_simulator.SimulatedFault:  # a deadlock, or a spin without end
        return True
    return bool(hazards)


def test_a_fence_of_the_block_is_not_enough_between_blocks():
    for name in ("LAST_BLOCK", "LOOK_BACK", "GRID_BARRIER", "LOCK"):
        weak = built(EXCHANGES[name].replace("__threadfence()", "__threadfence_block()"))
        assert exchange(weak, name)[0], name


FLAG_IN_BLOCK = (
    HEAD
    + """(int* p) {
  __shared__ int data[32];
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    data[threadIdx.x] = 5 * threadIdx.x;
    __syncwarp();
    if (threadIdx.x == 0) { FENCE SET; }
  } else {
    while (atomicAdd(&flag, 0) == 0) { }
    SEEN
    p[threadIdx.x - 32] = data[63 - threadIdx.x];
  }
}"""
)


FENCE = "__threadfence_block();"


@pytest.mark.parametrize(
    ("fence", "flag", "seen", "missing"),
    [
        (FENCE, "atomicExch(&flag, 1)", FENCE, None),
        (FENCE, "*(volatile int*)&flag = 1", FENCE, None),
        ("__threadfence();", "atomicExch_block(&flag, 1)", FENCE, None),
        (FENCE, "atomicExch(&flag, 1)", "", "between that read and this access"),
        ("", "atomicExch(&flag, 1)", FENCE, "between the access and that write"),
        ("", "*(volatile int*)&flag = 1", FENCE, "between the access and that write"),
        ("", "*(volatile int*)&flag = 1", "", "between the access and that write"),
        (FENCE, "flag = 1", FENCE, "there is no barrier between them"),
    ],
)
def test_flags_between_the_warps_of_a_block(cuda, fence, flag, seen, missing):
    p = np.zeros(32, np.int32)
    source = FLAG_IN_BLOCK.replace("FENCE", fence).replace("SET", flag).replace("SEEN", seen)
    found = races(cuda(source, p, block=64, observers=("hazards",)))
    assert np.array_equal(p, np.arange(31, -1, -1) * 5)
    assert (not found) if missing is None else any(missing in text for text in found), found


def test_atomics_on_data_order_nothing_else(cuda):
    source = (
        HEAD
        + """(const int* in, int* out, int n) {
      __shared__ int bins[64];
      if (threadIdx.x < 64) bins[threadIdx.x] = 0;
      FIRST
      for (int i = threadIdx.x; i < n; i += 128) atomicAdd(&bins[in[i] % 64], 1);
      SECOND
      if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
    }"""
    )
    a, barrier = np.random.default_rng(8).integers(0, 99, 4096).astype(np.int32), "__syncthreads();"
    a[-128:] = 63  # the last round touches one bin only: the others were last updated long ago
    for first, second in ((barrier, barrier), ("", barrier), (barrier, "")):
        out = np.zeros(64, np.int32)
        report = cuda(
            source.replace("FIRST", first).replace("SECOND", second), a, out, 4096, block=128, observers=("hazards",)
        )
        texts = races(report)
        assert (texts == []) is bool(first and second)
        if not second:
            assert "shared address 252" not in texts[0], "not only the bin of the last round"


def test_a_plain_flag_orders_nothing(cuda):
    source = LOOK_BACK.replace("volatile int* ready", "int* ready").replace(
        "while (ready[blockIdx.x - 1] == 0)", "while (*(volatile int*)(ready + blockIdx.x - 1) == 0)"
    )
    assert exchange(built(source), "LOOK_BACK")[0]


# ---- What it costs ----


def test_nothing_is_watched_unless_asked_for(cuda):
    report = cuda(HEAD + "(int* p) { p[0] = threadIdx.x; }", np.zeros(1, np.int32), grid=2)
    assert report.hazards == [] and report._launch.hazards is None


def test_weakened_accesses_lose_their_order_only():
    text = "a;\n\tst.volatile.global.u32 [%rd1], 1;\n@%p1 ld.acquire.gpu.global.u32 %r1, [%rd1];\n ld.global.u32 %r1, [%rd1];\n"
    assert [(m.line, m.ptx) for m in weakened(text)] == [
        (2, text.replace(".volatile", "")),
        (3, text.replace(".acquire.gpu", "")),
    ]


@pytest.mark.parametrize(
    ("n", "found"),
    [
        ("t == 0 ? s[3] : 0", []),  # one load by all threads, and a selection
        ("t != 0 ? 1 : s[3] * 2 + n", []),
        ("t == 32 ? s[3] : 0", ["race"]),
        ("t < 33 ? s[3] : 0", ["race"]),
        ("(t == 0 ? s[3] : 0) + s[3]", ["race"]),
    ],
)
def test_what_a_selection_discards_has_not_been_read(n, found, cuda):
    source = f"""extern "C" __global__ void kernel(int* out, int n) {{
      __shared__ int s[64];
      int t = threadIdx.x;
      s[t] = t;
      __syncthreads();
      n = {n};
      if (t == 0) s[3] = n + 5;
      out[t] = n;
    }}"""
    assert "selp" in compiling.compile(source, arch="sm_80", name="kernel.cu", entry="kernel").ptx
    report = cuda(source, np.zeros(64, np.int32), 1, block=64, observers=("hazards",))
    assert [hazard.kind for hazard in report.hazards] == found


@pytest.mark.parametrize("meet", ["", "__syncthreads();"])
@pytest.mark.parametrize(("add", "read"), [("atomicAdd(&part[t & 31], 1);", "part[t]"),
                                           ("part[32 + b * 64 + t] = 1;", "part[32 + t] + part[64 + t]")])  # fmt: skip
def test_the_last_block_reads_what_all_threads_have_stored(add, read, meet, cuda):
    """Each block is counted by one thread, whose fence orders its own stores and those that it has been told of."""
    source = f"""extern "C" __global__ void kernel(int* part, unsigned* count, int* out) {{
      __shared__ bool last;
      int t = threadIdx.x, b = blockIdx.x;
      {add}
      __threadfence();
      {meet}
      if (t == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
      __syncthreads();
      __threadfence();
      if (last && t < 32) out[t] = {read};
    }}"""
    arrays = np.zeros(32 + 4 * 64, np.int32), np.zeros(1, np.uint32), np.zeros(32, np.int32)
    found = cuda(source, *arrays, grid=4, block=64, observers=("hazards",)).hazards
    assert [hazard.kind for hazard in found] == ([] if meet else ["race"])
    if found:
        said = str(found[0])
        assert "meet at __syncthreads() after their stores" in said and "needs __threadfence()" not in said
