"""What is wrong with a kernel is found and named: races, deadlocks, accesses out of bounds, text that is not PTX."""

import numpy as np
import pytest
from ptx_text import at, run, text, words

import gpu_simulator
from gpu_simulator import BudgetExceeded, Deadlock, HazardFound, MalformedPtx, MemoryFault, UnsupportedInstruction
from gpu_simulator.errors import LaunchError

NEIGHBOUR = (
    """mov.u32 %r20, smem; shl.b32 %r21, %t, 2; add.u32 %r21, %r21, %r20; st.shared.u32 [%r21], %t;
{barrier}
xor.b32 %r22, %t, {apart}; shl.b32 %r22, %r22, 2; add.u32 %r22, %r22, %r20; ld.shared.u32 %r2, [%r22];
"""
    + at("%d", "%t", 4, "%q12")
    + "st.global.u32 [%q12], %r2;"
)


@pytest.mark.parametrize(("apart", "enough"), [(1, "bar.warp.sync -1;"), (32, "bar.sync 0;")])
def test_a_missing_barrier_is_a_race_and_the_right_one_is_not(apart, enough):
    d = words(64)
    report = run(NEIGHBOUR.format(barrier="", apart=apart), None, None, d, 1, 64, observers=("hazards",))
    assert [hazard.kind for hazard in report.hazards] == ["race"]
    with pytest.raises(HazardFound):
        report.raise_hazards()
    report = run(NEIGHBOUR.format(barrier=enough, apart=apart), None, None, d, 1, 64, observers=("hazards",))
    assert report.hazards == [] and np.array_equal(d, np.arange(64) ^ apart)


def test_a_barrier_of_a_warp_does_not_order_two_warps():
    report = run(
        NEIGHBOUR.format(barrier="bar.warp.sync -1;", apart=32), None, None, words(64), 1, 64, observers=("hazards",)
    )
    assert [hazard.kind for hazard in report.hazards] == ["race"]


def test_blocks_that_store_to_one_place_race_and_atomics_do_not():
    d = words(1)
    assert run("st.global.u32 [%d], %b;", None, None, d, 2, 1, observers=("hazards",)).hazards
    assert not run("red.global.add.u32 [%d], 1;", None, None, d, 2, 1, observers=("hazards",)).hazards


def test_shared_memory_that_nobody_wrote():
    report = run("mov.u32 %r20, smem; ld.shared.u32 %r1, [%r20];", None, None, None, observers=("hazards",))
    assert [hazard.kind for hazard in report.hazards] == ["uninitialised read"]


def test_hazards_are_looked_for_only_when_asked():
    assert run(NEIGHBOUR.format(barrier="", apart=1), None, None, words(64), 1, 64).hazards == []


COPY = (
    """mov.u32 %r20, smem; shl.b32 %r21, %t, 4; add.u32 %r21, %r21, %r20;
"""
    + at("%a", "%t", 16, "%q10")
    + """cp.async.cg.shared.global [%r21], [%q10], 16;
{wait}
ld.shared.u32 %r2, [%r21];
"""
    + at("%d", "%t", 4, "%q12")
    + "st.global.u32 [%q12], %r2;"
)


def test_a_copy_that_nobody_waits_for_is_a_hazard_and_late_it_shows():
    a, d = words(128, 1), words(32)
    report = run(COPY.format(wait=""), a, None, d, timing="late", observers=("hazards",))
    assert "missing wait" in {hazard.kind for hazard in report.hazards} and set(d.tolist()) == {0xFFFFFFFF}
    for timing in ("early", "late"):
        report = run(COPY.format(wait="cp.async.wait_all;"), a, None, d, timing=timing, observers=("hazards",))
        assert report.hazards == [] and np.array_equal(d, a[::4])


def test_a_deadlock_names_who_waits():
    """Warp 0 waits at barrier 0 and warp 1 at barrier 1: neither is complete."""
    body = """setp.lt.u32 %p1, %t, 32;
    @%p1 bra FIRST;
    bar.sync 1, 64;
    bra DONE;
    FIRST: bar.sync 0, 64;
    DONE:"""
    with pytest.raises(Deadlock, match="barrier") as told:
        run(body, None, None, None, 1, 64)
    assert "PTX line" in str(told.value)


def test_an_access_out_of_bounds_names_thread_and_line():
    body = at("%d", "%t", 4, "%q12") + "st.global.u32 [%q12], %t;"
    with pytest.raises(MemoryFault) as told:
        run(body, None, None, words(16))
    assert (
        "thread (16, 0, 0)" in str(told.value)
        and "past the end of argument 2" in str(told.value)
        and "PTX line" in str(told.value)
    )


def test_a_misaligned_access():
    with pytest.raises(MemoryFault, match="not a multiple of 4"):
        run("add.u64 %d, %d, 2; st.global.u32 [%d], %t;", None, None, words(32), 1, 1)


def test_a_null_pointer():
    with pytest.raises(MemoryFault):
        run("ld.global.u32 %r1, [%d];", None, None, None, 1, 1)


def test_shared_memory_ends_where_it_ends():
    with pytest.raises(MemoryFault):
        run(
            "mov.u32 %r20, smem; shl.b32 %r21, %t, 4; add.u32 %r20, %r20, %r21; st.shared.u32 [%r20], %t;",
            None,
            None,
            None,
            shared=256,
        )


def test_a_loop_without_end_is_stopped_at_its_line():
    with pytest.raises(BudgetExceeded, match="PTX line"):
        run("AGAIN: add.u32 %r1, %r1, 1; bra AGAIN;", None, None, None, max_instructions=10_000)


def test_text_that_is_not_ptx():
    with pytest.raises(MalformedPtx, match="line"):
        gpu_simulator.launch(text("add.u32 %r1, %r2"), "kernel", 1, 32, [None, None, None])


def test_an_instruction_that_is_not_executed_is_named():
    with pytest.raises(UnsupportedInstruction, match="tex"):
        run("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [smem, {%f5}];", None, None, None)


@pytest.mark.parametrize(
    ("block", "args", "says"), [(2048, 3, "1,024"), (32, 2, "takes 3 arguments"), (0, 3, "positive")]
)
def test_launches_that_no_gpu_takes(block, args, says):
    with pytest.raises(LaunchError, match=says):
        gpu_simulator.launch(text(""), "kernel", 1, block, [None] * args)


@pytest.mark.parametrize(
    ("add", "words"),
    [
        ("-64", r"64 bytes before argument 0 \(128 bytes\);"),
        ("128", r"0 bytes past the end of argument 0 \(128 bytes\) and [\d,]+ bytes before argument 2 \(128 bytes\);"),
        (
            "-0x700000000400",
            "0x[0-9a-f]+, which is in no array: an address in argument 0, 0x[67][0-9a-f]+, has these lower",
        ),
        ("-0x6ffff0000000", "which is in no array;"),
    ],
)
def test_an_address_in_no_array_is_described_by_the_arrays_beside_it(add, words):
    body = f"add.s64 %q1, %a, {add}; ld.global.u32 %r1, [%q1];"
    if add.startswith("-0x700000000"):
        body = "cvt.u32.u64 %r2, %a; cvt.u64.u32 %q1, %r2; ld.global.u32 %r1, [%q1];"
    with pytest.raises(MemoryFault, match=words):
        run(body, np.zeros(32, "u4"), None, np.zeros(32, "u4"), block=1)


def test_a_null_pointer_is_one_that_is_almost_zero():
    for offset, told in ((0, "address 0x0, a null pointer"), (0x3F8, "address 0x3f8, which is in no array")):
        with pytest.raises(MemoryFault, match=told):
            run(f"mov.u64 %q1, {offset}; ld.global.u32 %r1, [%q1];", np.zeros(32, "u4"), None, None, block=1)
