"""What wgmma leaves undefined is found and said: who, where, and what is missing. Clean kernels stay clean."""

import re

import compiling
import numpy as np
import pytest
from survivors import TIMINGS
from test_wgmma import CONFIG, gemm
from warpgroup_samples import Form, ring_source, wrapper

import gpu_simulator

# ---- One warpgroup ----

FENCE, COMMIT = ('asm volatile("wgmma.%s.sync.aligned;" ::: "memory");' % name for name in ("fence", "commit_group"))  # noqa: UP031
WAIT = 'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");'
PROXY = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");'
STAGES = {
    "fill": "for (int i = thread; i < 2048; i += 128) smem[i] = from[i];",
    "proxy": PROXY,
    "meet": "__syncthreads();",
    "start": "float acc[8], other[4]; uint32_t a[4];\n"
    "  for (int i = 0; i < 8; i++) acc[i] = from[2048 + thread * 8 + i];\n"
    "  for (int i = 0; i < 4; i++) { a[i] = from[thread + i]; other[i] = from[i]; }",
    "fence": FENCE,
    "multiply": "multiply(acc, at, at + 256, 1);",
    "between": "",
    "more": "from_registers(acc, a, at + 256, 1);",
    "commit": COMMIT,
    "flying": "",
    "wait": WAIT,
    "after": "",
    "end": "for (int i = 0; i < 8; i++) to[thread * 8 + i] = acc[i] + a[i % 4] + other[i % 4];",
}
HEAD = (
    '#include "config.cuh"\n#include "ptx/cp_async.cuh"\n'
    + wrapper(Form(16))
    + wrapper(Form(16, a_in_registers=True), "from_registers")
    + wrapper(Form(8), "narrow")
    + """
extern "C" __global__ void __launch_bounds__(256) kernel(const uint32_t* from, float* to) {
  __shared__ __align__(1024) uint32_t smem[2048];
  const int thread = threadIdx.x;
  const uint32_t here = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint64_t at = uint64_t(here >> 4) | uint64_t(64) << 32 | uint64_t(1) << 62;
"""
)


def report(threads=128, timing="early", **changes):
    source = HEAD + "".join(f"  {changes.get(name, text)}  // {name}\n" for name, text in STAGES.items()) + "}\n"
    compiled = compiling.compile(source, arch="sm_90a", name="one.cu", entry="kernel")
    args = [np.zeros(4096, np.uint32), np.zeros(4096, np.float32)]
    return gpu_simulator.launch(compiled, "kernel", 1, threads, args, observers=("hazards",), timing=timing)


MEET = "__syncthreads();"
ONE = f"if (thread == 64) {PROXY}"
LEADS = {
    "every writer, before the barrier": ("", f"{PROXY} {MEET}", True),
    "every reader, after it": ("", f"{MEET} {PROXY}", True),
    "a lane of every warp that reads": ("", f"{MEET} if (thread % 32 == 0) {PROXY}", True),
    "one thread, between two barriers": ("", f"{MEET} {ONE} {MEET}", True),
    "one thread, after the barrier": ("", f"{MEET} {ONE}", False),
    "one thread, before the barrier": ("", f"{ONE} {MEET}", False),
    "every reader, before the writes": (PROXY, MEET, False),
    "nobody": ("", MEET, False),
}


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", LEADS)
def test_a_proxy_fence_has_to_stand_on_the_way_from_the_writes_to_the_readers(name, timing):
    before, meet, leads = LEADS[name]
    found = report(timing=timing, fill=before + STAGES["fill"], proxy="", meet=meet).hazards
    assert {hazard.kind for hazard in found} == (set() if leads else {"missing fence"})


def sentences(**changes) -> str:
    try:
        return "\n".join(f"{h.kind}: {h}" for h in report(**changes).hazards)
    except gpu_simulator.SimulatedFault as error:
        return f"{type(error).__name__}: {error}"


CLEAN = {
    "as it stands": {},
    "the reader fences": {"proxy": "", "meet": "__syncthreads(); " + PROXY},
    "accumulators set behind a wait": {"after": f"acc[0] = 1; {FENCE} multiply(acc, at, at + 256, 1); {COMMIT} {WAIT}"},
    "two products of one shape need no fence": {"between": "multiply(acc, at, at + 256, 1);"},
    "shared memory written behind a wait": {"after": "__syncthreads(); smem[thread] = 1;"},
    "cp.async, waited for and fenced": {
        "fill": "for (int i = 4 * thread; i < 2048; i += 512) cp_async_16b(here + 4 * i, from + i);\n"
        "  cp_async_commit(); cp_async_wait<0>();"
    },
    "two warpgroups": {"threads": 256, "fill": "for (int i = thread; i < 2048; i += 256) smem[i] = from[i];"},
    "another shape behind a fence": {"between": f"{COMMIT} {WAIT} {FENCE} narrow(other, at, at + 256, 1);"},
}
WRONG = {
    "no proxy fence": ({"proxy": ""}, r"missing fence: one.cu:\d+.*wgmma.mma_async.*block \(0, 0, 0\), thread \(0, 0, 0\) of "
                       r"warp 0 reads smem\[0\] \(shared address 0\) through the async proxy, which thread \(\d+, 0, 0\) wrote at "
                       r"one.cu:\d+, st.shared.*: the threads that wrote need fence.proxy.async"),
    "one warp fences": ({"proxy": f"if (thread < 32) {PROXY}"}, r"missing fence: .* through the async proxy"),
    "a fence of global memory": ({"proxy": PROXY.replace("shared::cta", "global")}, r"missing fence: .*async proxy"),
    "cp.async without the fence": (
        {**CLEAN["cp.async, waited for and fenced"], "proxy": ""}, r"missing fence: .*wrote at one.cu:\d+.*cp.async.cg"),
    "cp.async not waited for": (
        {"fill": "for (int i = 4 * thread; i < 2048; i += 512) cp_async_16b(here + 4 * i, from + i);"},
        r"missing wait: .*wgmma.*reads smem\[0\] \(shared address 0\) while a cp.async may still be writing it"),
    "no barrier": ({"meet": ""}, r"race: .*wgmma.mma_async.*thread \(0, 0, 0\) of warp 0 reads .*shared address 128.*, which "
                   r"thread \(32, 0, 0\) of warp 1 wrote at one.cu:\d+, st.shared.*there is no barrier"),
    "nothing stored": ({"fill": "", "meet": ""}, r"uninitialised read: .*wgmma.mma_async.*shared address 0\), which nothing "
                       "has written"),
    "no wgmma.fence": ({"fence": ""}, r"missing fence: one.cu.*block \(0, 0, 0\), warpgroup 0 has executed no wgmma.fence "
                       "before its first wgmma"),
    "registers set behind the fence": (
        {"after": f"acc[3] += 1; multiply(acc, at, at + 256, 1); {COMMIT} {WAIT}"},
        r"missing fence: one.cu:\d+.*warpgroup 0 takes register %f\d+, which it used at one.cu:\d+, add.f32.* and no "
        "wgmma.fence stands between"),
    "A set behind the fence": (
        {"after": f"a[1] ^= 1; from_registers(acc, a, at + 256, 1); {COMMIT} {WAIT}"},
        r"missing fence: .*takes register %r\d+, which it used at one.cu:\d+, xor.b32"),
    "another shape": (
        {"more": "narrow(reinterpret_cast<float (&)[4]>(acc), at, at + 256, 1);"},
        r"missing (fence|wait): .*m64n8k16.*warpgroup 0 takes "),
    "read in flight": (
        {"flying": "to[thread] = acc[2];"}, r"missing wait: one.cu:\d+, st.global.*warpgroup 0 reads register %f\d+, an "
        r"accumulator of one.cu:\d+.*wgmma.mma_async.*which may still be in flight: wgmma.commit_group and a"),
    "written in flight": ({"flying": 'asm volatile("add.f32 %0, %0, %0;" : "+f"(acc[2]));'},
                          r"missing wait: one.cu:\d+, add.f32.*an accumulator of"),
    "A written in flight": ({"flying": "a[2] *= 3;"}, r"missing wait: one.cu:\d+, mul.lo.s32.*a register of A of one.cu"),
    "not committed": ({"commit": ""}, r"missing wait: one.cu:\d+, add.f32.*an accumulator of"),
    "not waited for": ({"wait": ""}, r"warpgroup 0 ends while this wgmma may still be in flight"),
    "stored over the operands": (
        {"flying": "smem[thread] = 1;"}, r"missing wait: one.cu:\d+, st.shared.*thread \(0, 0, 0\) of warp 0 writes "
        r"smem\[0\] \(shared address 0\) while one.cu:\d+.*wgmma.mma_async.*of warpgroup 0 may still be reading it: warpgroup 0 has to wait"),
    "copied over the operands": (
        {"flying": "cp_async_16b(here + 16 * thread, from + 4 * thread); cp_async_commit(); cp_async_wait<0>();"},
        r"missing wait: one.cu:\d+.*cp.async.*writes .*shared address 0\)? while .*wgmma.mma_async"),
    "stored without a barrier behind the wait": (
        {"threads": 256, "fill": "for (int i = thread; i < 2048; i += 256) smem[i] = from[i];",
         "after": "smem[thread ^ 128] = 1;"}, r"(race|missing wait): .*st.shared"),
    "three warps": ({"threads": 96}, r"WarpgroupFault: one.cu:\d+.*wgmma.fence.*warpgroup 0 of block \(0, 0, 0\) \(threads "
                    r"0-127\) has 96 threads, as the block ends with thread 95. All 128 threads"),
    "a warp has ended": ({"meet": "if (thread >= 96) return;"}, r"WarpgroupFault: .*is not complete: some of its threads have"),
    "half a warpgroup": ({"multiply": "if (thread < 64) multiply(acc, at, at + 256, 1);"},
                         r"Deadlock: one.cu:\d+.*block \(0, 0, 0\), warpgroup 0 cannot execute wgmma.mma_async, as its "
                         "threads 64-127 are elsewhere"),
    "two descriptors": ({"multiply": "multiply(acc, at, at + 128 * (thread / 64), 1);"},
                        r"WarpgroupFault: .*gives several descriptors of B: 0x\w+ and 0x\w+"),
    "past the row": ({"multiply": "multiply(acc, at + 7, at, 1);"}, "leave the 128-byte row of the swizzle"),
    "past shared memory": ({"multiply": "multiply(acc, at, at + 512, 1);"}, r"the block has 8,192 bytes of shared memory"),
    "shifted twice": ({"multiply": "multiply(acc, at, at - (uint64_t(60) << 32), 1);"},
                      "the stride byte offset of 64 is less than the 1,024 bytes that 8 rows take"),
    "bits of tcgen05": ({"multiply": "multiply(acc, at, at | uint64_t(1) << 46, 1);"},
                        r"gives the descriptor 0x\w+, which has bits set .*belong to the descriptors of tcgen05"),
}  # fmt: skip


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", CLEAN)
def test_clean_kernels_are_clean(name, timing):
    assert report(timing=timing, **CLEAN[name]).hazards == []


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    changes, words = WRONG[name]
    for timing in TIMINGS:
        text = sentences(timing=timing, **changes)
        assert re.search(words, text), f"{timing}: {text}"


def test_late_products_are_seen_only_behind_the_wait():
    """A kernel that does not wait stores what its registers held before."""
    for timing, seen in (("early", True), ("late", False)):
        to = np.zeros(4096, np.float32)
        ones = np.full(4096, 0x3F803F80, np.uint32)
        body = {
            **STAGES,
            "start": "float acc[8]; for (int i = 0; i < 8; i++) acc[i] = 0;",
            "more": "",
            "wait": "",
            "end": "for (int i = 0; i < 8; i++) to[thread * 8 + i] = acc[i];",
        }
        source = HEAD + "".join(f"  {text}\n" for text in body.values()) + "}\n"
        compiled = compiling.compile(source, arch="sm_90a", name="one.cu", entry="kernel")
        gpu_simulator.launch(compiled, "kernel", 1, 128, [ones, to], timing=timing)
        assert (to[:1024] == (16 if seen else 0)).all()


@pytest.mark.parametrize("timing", TIMINGS)
def test_moves_rename_accumulators_in_flight(timing):
    """Compilers may go on with a copy of the accumulators; ptxas gives both the same registers."""
    body = {
        **STAGES,
        "between": "multiply(acc, at + 2, at + 256, 1);",
        "more": "multiply(acc, at + 4, at + 256, 1);",
        "end": "for (int i = 0; i < 8; i++) to[thread * 8 + i] = acc[i];",
    }
    source = HEAD + "".join(f"  {text}\n" for text in body.values()) + "}\n"
    ptx = compiling.compile(source, arch="sm_90a", name="one.cu", entry="kernel").ptx
    first, second, third = re.finditer(r"wgmma\.mma_async[^{]*\{([^}]*)\}[^;]*;", ptx)
    names = [name.strip() for name in first[1].split(",")]
    assert names == [name.strip() for name in third[1].split(",")]
    moves = "".join(f"mov.f32 %copied{i}, {name};\n" for i, name in enumerate(names))
    rest = ptx[second.end() :]
    for i, name in enumerate(names):
        rest = re.sub(rf"{re.escape(name)}\b", f"%copied{i}", rest)
    renamed = ptx[: second.end()] + moves + rest
    renamed = renamed.replace(".reg .f32 ", ".reg .f32 %copied<8>;\n.reg .f32 ", 1)
    rng = np.random.default_rng(3)
    values = rng.choice([0x3F803F80, 0x3F804000, 0x40003F80, 0xBF804000], 4096).astype(np.uint32)
    out = []
    for text in (ptx, renamed):
        to = np.zeros(4096, np.float32)
        report = gpu_simulator.launch(text, "kernel", 1, 128, [values, to], observers=("hazards",), timing=timing)
        assert report.hazards == []
        out.append(to)
    assert np.array_equal(*out) and out[0][:1024].any()


# ---- The ring ----

RING = ring_source()
BROKEN = {
    "released too early": (
        "if (previous >= 0 && thread == 0) mbarrier_arrive(empty + 8 * previous);",
        "if (thread == 0) mbarrier_arrive(empty + 8 * stage);",
        r"missing wait: ring.cu:{load}.*thread \(256, 0, 0\) of warp 8 overwrites shared address 1024 while ring.cu:{wgmma}"
        r".*of warpgroup 0 may still be reading it",
    ),
    "no wait for full": (
        "mbarrier_wait_parity(full + 8 * stage, phase);",
        "",
        r"missing wait: ring.cu:{wgmma}.*reads shared address 1024 while the copy at ring.cu:{load}.*may still be writing",
    ),
    "one warp waits for all": (
        "mbarrier_wait_parity(full + 8 * stage, phase);",
        "if (thread < 32) mbarrier_wait_parity(full + 8 * stage, phase);",
        r"race: ring.cu:{wgmma}.*of warp 1 reads shared address 1024, which the copy at ring.cu:{load}.*has not waited",
    ),
    "no wait for empty": (
        "mbarrier_wait_parity(empty + 8 * stage, phase ^ 1);",
        "",
        r"overwrites shared address|one too many",
    ),
    "no wait in the loop": (
        'asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");',
        "",
        r"missing wait: ring.cu:{load}.*overwrites shared address 1024 while ring.cu:{wgmma}",
    ),
    "no last wait": (
        WAIT,
        "",
        r"missing wait: ring.cu:{store}.*reads register %f\d+, an accumulator of ring.cu:{wgmma}",
    ),
    "too few bytes": ("STAGE_BYTES);", "STAGE_BYTES - 16);", r"has got 16 bytes more than were announced"),
    "used in the loop": (
        "previous = stage;",
        "previous = stage; if (k == 64) acc[3] += 1;",
        r"missing wait: ring.cu:\d+, add.f32.*an accumulator of ring.cu:{wgmma}",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_ring_says_what_is_wrong(name):
    old, new, words = BROKEN[name]
    at = {
        key: 1 + next(i for i, text in enumerate(RING.splitlines()) if mark in text)
        for key, mark in (("load", "LOAD_A"), ("wgmma", "// WGMMA"), ("store", "// STORE"))
    }
    for key, number in at.items():
        line = rf"\d+ \(called from line {number}\)" if key == "wgmma" else str(number)  # a function around the product
        words = words.replace(f"{{{key}}}", line)
    assert RING.count(old) == 1
    text = []
    for timing in TIMINGS:
        try:
            _, found = gemm(RING.replace(old, new), timing, k=320)
            text += [f"{h.kind}: {h}" for h in found.hazards]
        except gpu_simulator.SimulatedFault as error:
            text.append(str(error))
    assert re.search(words, "\n".join(text)), text


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        ("previous >= 0 && thread == 0", "previous >= 0 && thread == 96"),  # any warp of the warpgroup may tell
        ("wait_group.sync.aligned 1;", "wait_group.sync.aligned 0;"),
        ("acc[i] = 0;", ";"),
    ],
    ids=["another warp releases", "waits for all", "scale-d"],
)
def test_other_ways_to_write_the_ring_are_clean(change):
    old, new = change
    source = RING.replace(old, new)
    if new == ";":
        source = source.replace("b + 2 * kk, 1)", "b + 2 * kk, k > 0 || kk > 0)")
    assert source != RING
    for timing in TIMINGS:
        exact, found = gemm(source, timing, k=320, config=CONFIG)
        assert exact and found.hazards == []
