"""mbarrier on the simulator: phases, counts and states; who waits on what; every misuse named."""

import re

import compiling
import numpy as np
import pytest
from mutants import altered_mbarriers, mutants

import gpu_simulator

HEAD = r"""
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
__device__ uint32_t pending(uint64_t state) {
  uint32_t count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  return count;
}
__device__ uint32_t over(uint32_t barrier, uint64_t state) {
  uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(barrier), "l"(state) : "memory");
  return done;
}
__device__ uint32_t over_parity(uint32_t barrier, int parity) {
  uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; "
               "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  return done;
}
#define ARRIVE(VARIANT, MORE) \
  asm volatile("mbarrier." VARIANT ".shared::cta.b64 %0, [%1]" MORE ";" : "=l"(state) : "r"(barrier) : "memory")
#define BYTES(VARIANT, COUNT) \
  asm volatile("mbarrier." VARIANT ".relaxed.cta.shared::cta.b64 [%0], " #COUNT ";" :: "r"(barrier) : "memory")
extern "C" __global__ void kernel(uint32_t* out) {
  __shared__ alignas(8) uint64_t memory[2];
  __shared__ uint32_t data[256];
  const uint32_t barrier = shared_address(memory);
  uint64_t state = 0;
  const int t = threadIdx.x;
"""


def run(body, block=1, arch="sm_90a", observers=(), **options):
    compiled = compiling.compile(HEAD + body + "\n}", arch=arch, name="kernel.cu", entry="kernel")
    out = np.full(256, 99, np.uint32)
    report = gpu_simulator.launch(compiled, "kernel", 1, block, [out], observers=observers, **options)
    return out, report


def line(body, text):
    """The line of the kernel's source on which a text of the body stands."""
    return 1 + next(i for i, content in enumerate((HEAD + body).splitlines()) if text in content)


# ---- Phases ----


@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
def test_arrivals_states_and_parity(arch):
    out, _ = run(
        """
  mbarrier_init(barrier, 5);
  *out++ = over_parity(barrier, 0); *out++ = over_parity(barrier, 1);
  ARRIVE("arrive", ""); *out++ = pending(state); *out++ = over(barrier, state);
  ARRIVE("arrive", ", 2"); *out++ = pending(state);
  ARRIVE("arrive.noComplete", ", 1"); *out++ = pending(state);
  ARRIVE("arrive_drop", ""); *out++ = pending(state); *out++ = over(barrier, state);
  *out++ = over_parity(barrier, 0); *out++ = over_parity(barrier, 1);
  ARRIVE("arrive", ", 4"); *out++ = pending(state); *out++ = over_parity(barrier, 1);""",
        arch=arch,
    )
    #                    not over, but the one before is; 5 arrivals; the dropped one is missed later on
    assert out[:12].tolist() == [0, 1, 5, 0, 4, 2, 1, 1, 1, 0, 4, 1]


def test_bytes_hold_a_phase_and_may_come_first():
    out, _ = run("""
  mbarrier_init(barrier, 1);
  BYTES("complete_tx", 40);
  mbarrier_arrive_expect_tx(barrier, 100);
  *out++ = over_parity(barrier, 0);
  BYTES("complete_tx", 60);
  *out++ = over_parity(barrier, 0);
  BYTES("expect_tx", 8);
  ARRIVE("arrive", "");
  *out++ = over(barrier, state);
  BYTES("complete_tx", 8);
  *out++ = over(barrier, state);""")
    assert out[:4].tolist() == [0, 1, 0, 1]


def test_generic_addresses_hints_and_arrivals_of_all_lanes():
    out, _ = run(
        """
  if (t == 0) { mbarrier_init(barrier, 64); }
  __syncthreads();
  asm volatile("mbarrier.arrive.release.cta.b64 %0, [%1];" : "=l"(state) : "l"(memory) : "memory");
  uint32_t done = 0;
  while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"
                             : "=r"(done) : "l"(memory), "l"(state), "r"(1000) : "memory");
  out[t] = pending(state);""",
        block=64,
    )
    assert sorted(out[:64].tolist()) == list(range(1, 65))


def test_a_barrier_may_be_made_again_after_inval():
    out, _ = run("""
  mbarrier_init(barrier, 3);
  ARRIVE("arrive", "");
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(barrier) : "memory");
  mbarrier_init(barrier, 1);
  ARRIVE("arrive", "");
  out[0] = over(barrier, state);""")
    assert out[0] == 1


def test_ranks_registers_and_hints_of_a_block_that_is_its_own_cluster():
    out, _ = run("""
  uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(remote) : "r"(barrier));
  mbarrier_init(barrier, 2);
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(remote) : "memory");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40; griddepcontrol.wait; fence.proxy.tensormap::generic.release.gpu;");
  ARRIVE("arrive", "");
  out[0] = over(barrier, state);""")
    assert out[0] == 1
    text = ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry kernel() { setmaxnreg.inc.sync.aligned.u32 20; }"
    with pytest.raises(gpu_simulator.UnsupportedInstruction, match="20 registers; 24 to 256 in steps of 8"):
        gpu_simulator.launch(text, "kernel", 1, 32)


@pytest.mark.parametrize(("body", "words"), [
    ("DEC(40); DEC(24);", ""),
    ("if (t / 32 < 4) DEC(40); else INC(240);", ""),
    ("if (t / 32 < 2) { DEC(40); DEC(40); }", "warp 0 of block (0, 0, 0) executes setmaxnreg.dec to 40 registers as number "
     "1 of its setmaxnreg, where warp 2 of the same warpgroup executes no such instruction."),
    ("DEC(40); if (t == 224) __nanosleep(1); if (t / 32 == 5) DEC(24);", "warp 5 of block (0, 0, 0) executes setmaxnreg.dec "
     "to 24 registers as number 2 of its setmaxnreg, where warp 4 of the same warpgroup executes no such instruction."),
    ("if (t / 32 == 5) DEC(24); else DEC(40);", "warp 5 of block (0, 0, 0) executes setmaxnreg.dec to 24 "
     "registers as number 1 of its setmaxnreg, where warp 4 of the same warpgroup executes setmaxnreg.dec to 40 registers."),
])  # fmt: skip
def test_all_warps_of_a_warpgroup_execute_the_same_setmaxnreg(body, words):
    shares = "".join(
        f'#define {name.upper()}(N) asm volatile("setmaxnreg.{name}.sync.aligned.u32 %0;" :: "n"(N))\n'
        for name in ("dec", "inc")
    )
    _, report = run("\n" + shares + body, 256, observers=("hazards",))
    assert bool(report.hazards) == bool(words) and (not words or words in str(report.hazards[0]))


REGISTERS = """
  if (t == 0) { mbarrier_init(barrier, 1); mbarrier_init(barrier + 8, 1); }
  __syncthreads();
  if (t / 32 < 4) {
    BEFORE
    if (t == 0) mbarrier_wait_parity(barrier, 0);
    AFTER
  } else {
    INC(240);
    if (t == 128) mbarrier_arrive(barrier);
  }"""


@pytest.mark.parametrize(("before", "after", "found"), [
    ("DEC(40);", "", False),
    ("", "DEC(40);", False),  # with 256 threads every thread can have 256 registers at the launch
    ("", "__syncwarp(); DEC(40);", True),
    ("DEC(24);", "__syncwarp();", False),
    ("DEC(40);", "__syncwarp(); DEC(24);", True),  # 16,384 are free in time, and 18,432 are wanted
    ("DEC(160);", "__syncwarp(); DEC(40);", True),
    ("if (t >= 32) DEC(24);", "__syncwarp(); if (t < 32) DEC(24);", True),  # three warps give 13,824, and 18,432 are wanted
])  # fmt: skip
def test_registers_that_come_back_only_after_a_wait_for_the_one_who_wants_them(before, after, found):
    """A block of 384 threads has 168 for each, so 72 times 128 have to come from the other warps."""
    shares = "".join(
        f'#define {name.upper()}(N) asm volatile("setmaxnreg.{name}.sync.aligned.u32 %0;" :: "n"(N))\n'
        for name in ("dec", "inc")
    )
    body = shares + REGISTERS.replace("BEFORE", before).replace("AFTER", after)
    threads = 384 if "syncwarp" in after or not after else 256
    _, report = run("\n" + body, threads, observers=("hazards",))
    assert any("On a GPU both wait for ever" in str(hazard) for hazard in report.hazards) == found


# ---- Producer and consumer without TMA ----

HANDSHAKE = """
  if (t == 0) { mbarrier_init(barrier, 32); mbarrier_init(barrier + 8, 32); }
  __syncthreads();
  #pragma unroll 1
  for (int i = 0; i < 5; i++) {
    if (t < 32) {
      mbarrier_wait_parity(barrier + 8, (i & 1) ^ 1);   // EMPTY
      data[t] = 100 * i + t;
      mbarrier_arrive(barrier);
    } else {
      mbarrier_wait_parity(barrier, i & 1);             // FULL
      out[32 * i + t - 32] = data[63 - t];
      mbarrier_arrive(barrier + 8);
    }
  }"""


@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
def test_an_arrival_releases_and_a_wait_acquires(arch):
    out, report = run(HANDSHAKE, 64, arch, observers=("hazards",))
    assert np.array_equal(out[:160].reshape(5, 32), 100 * np.arange(5)[:, None] + 31 - np.arange(32))
    assert report.hazards == []


@pytest.mark.parametrize("wait", ["EMPTY", "FULL"])
def test_without_its_wait_it_is_a_race(wait):
    body = "\n".join(text for text in HANDSHAKE.splitlines() if wait not in text)
    try:
        text = "; ".join(map(str, run(body, 64, observers=("hazards",))[1].hazards))
    except gpu_simulator.SimulatedFault as error:
        text = str(error)
    assert re.search(r"kernel.cu:\d+, (st|ld).shared.*there is no barrier between them", text), text


def test_relaxed_arrivals_order_nothing():
    body = HANDSHAKE.replace(
        "mbarrier_arrive(barrier);",
        'asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");',
    )
    _, report = run(body, 64, observers=("hazards",))
    assert any("there is no barrier between them" in str(h) for h in report.hazards)


def test_mutants_of_the_handshake_are_caught():
    made = compiling.compile(HEAD + HANDSHAKE + "\n}", arch="sm_90a", name="kernel.cu", entry="kernel")
    statements = []
    for mutant in (*mutants(made.ptx), *altered_mbarriers(made.ptx)):
        out = np.zeros(256, np.uint32)
        try:
            options = {"observers": ("hazards",), "max_instructions": 200_000}
            report = gpu_simulator.launch(mutant.ptx, "kernel", 1, 64, [out], **options)
        except gpu_simulator.SimulatedFault:
            continue
        exact = np.array_equal(out[:160].reshape(5, 32), 100 * np.arange(5)[:, None] + 31 - np.arange(32))
        if exact and not report.hazards:
            statements.append(mutant.statement)
    assert statements == []


# ---- Misuse ----


def test_deadlocks_say_who_waits_for_what():
    body = """
  if (t == 0) mbarrier_init(barrier, 33);
  __syncthreads();
  if (t < 32) mbarrier_arrive(barrier);
  else mbarrier_wait_parity(barrier, 0);  // WAIT"""
    where = line(body, "WAIT")
    with pytest.raises(
        gpu_simulator.Deadlock,
        match=rf"block \(0, 0, 0\): threads 32-63 wait at the mbarrier at shared address \d+ for the end of phase 0 "
        rf"\(parity 0\), which expects 1 more of its 33 arrivals \(kernel.cu:{where} \(inlined from ptx/mbarrier",
    ):
        run(body, 64)
    with pytest.raises(gpu_simulator.Deadlock, match="which expects 24 bytes more than have been copied"):
        run("mbarrier_init(barrier, 1); mbarrier_arrive_expect_tx(barrier, 24); mbarrier_wait_parity(barrier, 0);")
    with pytest.raises(gpu_simulator.Deadlock, match=r"phase 0 is over, and nothing has come since"):
        run('mbarrier_init(barrier, 1); ARRIVE("arrive", ""); mbarrier_wait_parity(barrier, 1);')


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("mbarrier_arrive(barrier);", r"thread \(0, 0, 0\) uses an mbarrier at shared address 0 that was not initialised"),
        ("mbarrier_init(barrier, 1); mbarrier_arrive(barrier + 8);", "this block has mbarriers at 0"),
        ("mbarrier_init(barrier, t);", "for 0 arrivals; 1 to 1,048,575 are possible"),
        ("mbarrier_init(barrier + 4, 1);", "shared address 4, which is not a multiple of 8"),
        ("mbarrier_init(barrier + 80000 + t * 8, 1);", "is past its"),
        ('mbarrier_init(barrier, 1); ARRIVE("arrive", ", 2");', "is one too many: phase 0 misses 1 of 1 arrivals"),
        ('mbarrier_init(barrier, 1); ARRIVE("arrive.noComplete", ", 1");', "would complete its phase, which .noComplete"),
        ("mbarrier_init(barrier, 1); memory[0] = t; mbarrier_arrive(barrier);", "its 8 bytes were overwritten"),
        ('mbarrier_init(barrier, 1); out[0] = over_parity(barrier, 2);', "phase parity 2; it is 0 or 1"),
        ('mbarrier_init(barrier, 1); BYTES("expect_tx", 1048576);', "1,048,576 bytes; it can count 1,048,575"),
    ],
)  # fmt: skip
def test_misuse_is_named_with_line_and_thread(body, words):
    with pytest.raises(gpu_simulator.SimulatedFault, match=words) as caught:
        run(body)
    assert re.search(rf"(kernel.cu:|called from line ){line(body, body[:20])}\b", str(caught.value))
    assert "thread (0, 0, 0)" in str(caught.value)


def test_other_threads_need_a_barrier_after_the_init():
    body = """
  if (t == 0) mbarrier_init(barrier, 64);  // INIT
  MEET
  mbarrier_arrive(barrier);
  mbarrier_wait_parity(barrier, 0);"""
    assert run(body.replace("MEET", "__syncthreads();"), 64, observers=("hazards",))[1].hazards == []
    _, report = run(body.replace("MEET", ""), 64, observers=("hazards",))
    assert any(
        f"kernel.cu:{line(body, 'INIT')}" in str(h) and "needs __syncthreads() after the init" in str(h)
        for h in report.hazards
    )


def test_an_earlier_hazard_comes_before_the_arrival_that_is_one_too_many():
    body = """
  if (t == 0) mbarrier_init(barrier, 1);
  data[t] = t; out[t] = data[63 - t];               // RACE
  __syncthreads();
  if (t == 0) ARRIVE("arrive", ", 2");"""
    with pytest.raises(gpu_simulator.MbarrierFault) as caught:
        run(body, 64, observers=("hazards",))
    cause, after = str(caught.value).split(" After that: ")
    assert f"kernel.cu:{line(body, 'RACE')}" in cause and "__syncthreads" not in after and "is one too many" in after


INVAL = 'asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(barrier) : "memory");'
START = "if (t == 0) mbarrier_init(barrier, COUNT);\n  __syncthreads();\n"


@pytest.mark.parametrize(
    ("count", "body", "user"),
    [
        (96, "mbarrier_arrive(barrier); mbarrier_wait_parity(barrier, 0);\n  if (t == 0) INVAL", "(wait at"),
        (96, "mbarrier_arrive(barrier); mbarrier_wait_parity(barrier, 0);\n  __syncthreads();\n  if (t == 0) INVAL", ""),
        (96, "mbarrier_arrive(barrier);\n  if (t == 0) { mbarrier_wait_parity(barrier, 0); INVAL }", ""),
        (64, "if (t >= 32) mbarrier_arrive(barrier);\n  if (t == 0) { mbarrier_wait_parity(barrier, 0); INVAL }", ""),
        (97, "mbarrier_arrive(barrier);\n  if (t == 0) INVAL", "(arrive at"),
        (97, "mbarrier_arrive(barrier);\n  __syncthreads();\n  if (t == 0) INVAL", ""),
        (1, "if (t < 32) mbarrier_wait_parity(barrier, 1);\n  if (t == 0) INVAL", "of warp 0 may still be using (wait"),
        (1, "if (t < 32) { mbarrier_wait_parity(barrier, 1); __syncwarp(); }\n  if (t == 0) INVAL", ""),
        (1, 'if (t == 40) BYTES("expect_tx", 16);\n  if (t == 0) INVAL', "thread (40, 0, 0) of warp 1 may still be using"),
        (1, 'if (t == 0) { BYTES("expect_tx", 16); INVAL }', ""),
    ],
)  # fmt: skip
def test_all_uses_come_before_the_inval(count, body, user):
    body = START.replace("COUNT", str(count)) + "  " + body.replace("INVAL", INVAL)
    _, report = run(body, 96, observers=("hazards",))
    assert bool(report.hazards) == bool(user)
    assert not user or (
        user in str(report.hazards[0])
        and "thread (0, 0, 0) invalidates the mbarrier at shared address" in str(report.hazards[0])
        and f"kernel.cu:{line(body, 'inval')}" in str(report.hazards[0])
    )


# ---- barrier.cluster of a block that is its own cluster ----

CLUSTER = """
  for (int i = 0; i < 3; i++) {
    data[t] = 10 * t + i;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    out[64 * i + t] = data[63 - t];
    __syncthreads();
  }"""


@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
def test_a_cluster_of_one_meets_like_a_block(arch):
    out, report = run(CLUSTER, 64, arch, observers=("hazards",))
    assert np.array_equal(out[:192].reshape(3, 64), 10 * (63 - np.arange(64)) + np.arange(3)[:, None])
    assert report.hazards == []
    _, report = run(CLUSTER.replace("arrive.release", "arrive.relaxed"), 64, arch, observers=("hazards",))
    assert any("there is no barrier between them" in str(h) for h in report.hazards)


def test_a_cluster_barrier_that_some_miss_is_a_deadlock_unless_they_end():
    body = 'asm volatile("barrier.cluster.arrive;"); asm volatile("barrier.cluster.wait;"); out[t] = 7;'
    out, _ = run(f"if (t >= 32) {{ {body} }}", 64)
    assert out[:64].tolist() == [99] * 32 + [7] * 32
    with pytest.raises(
        gpu_simulator.Deadlock, match=r"threads 32-63 wait at barrier.cluster for all threads \(kernel.cu:"
    ):
        run(f"if (t >= 32) {{ {body} }} else {{ __syncthreads(); }}", 64)


@pytest.mark.parametrize(
    ("count", "first", "second", "found"),
    [
        (32, "arrive(); wait(i & 1);", "wait(i & 1);", ["early arrival"]),  # two phases may pass before it looks
        (64, "arrive(); wait(i & 1);", "arrive(); wait(i & 1);", []),
        (32, "__syncthreads(); arrive(); wait(i & 1);", "__syncthreads(); wait(i & 1);", []),
        (33, "arrive(); wait(i & 1);", "if (t == 37) arrive(); wait(i & 1);", []),
    ],
)
@pytest.mark.parametrize("timing", ["early", "late"])
def test_a_phase_waits_for_those_who_waited_for_the_last(timing, count, first, second, found):
    source = f"""#include "ptx/mbarrier.cuh"
    extern "C" __global__ void kernel(int* out, int n) {{
      __shared__ alignas(8) uint64_t memory;
      const uint32_t barrier = __cvta_generic_to_shared(&memory);
      const int t = threadIdx.x;
      const auto arrive = [&] {{ mbarrier_arrive(barrier); }};
      const auto wait = [&](int parity) {{ mbarrier_wait_parity(barrier, parity); }};
      if (t == 0) mbarrier_init(barrier, {count});
      __syncthreads();
      for (int i = 0; i < n; i++)
        if (t < 32) {{ {first} }} else {{ {second} }}
      out[t] = n;
    }}"""
    compiled = compiling.compile(source, arch="sm_90a", name="kernel.cu", entry="kernel")
    out = np.zeros(64, np.int32)
    report = gpu_simulator.launch(compiled, "kernel", 1, 64, [out, 5], observers=("hazards",), timing=timing)
    said = [hazard for hazard in report.hazards if hazard.kind != "divergent barrier"]
    assert [hazard.kind for hazard in said] == found and (out == 5).all()
    assert not found or ("has waited for phase 0" in str(said[0]) and said[0].severity == "suspicious")
