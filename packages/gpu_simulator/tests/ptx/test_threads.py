"""Threads that work together: shared memory and barriers, divergence, shuffles, votes, atomics."""

import numpy as np
import pytest
from ptx_text import at, run, words

import gpu_simulator

LOAD = at("%a", "%t", 4, "%q10") + "ld.global.u32 %r1, [%q10];\n"
SHARED = "mov.u32 %r20, smem; shl.b32 %r21, %t, 2; add.u32 %r21, %r21, %r20; st.shared.u32 [%r21], %r1;\n"
REVERSED = "sub.u32 %r22, %n, 1; sub.u32 %r22, %r22, %t; shl.b32 %r22, %r22, 2; add.u32 %r22, %r22, %r20;\n"
STORE = at("%d", "%t", 4, "%q12") + "st.global.u32 [%q12], %r2;\n"


@pytest.mark.parametrize("block", [32, 33, 128, 1024])
def test_a_barrier_lets_every_thread_read_what_another_wrote(block):
    a, d = words(block, 7), words(block)
    report = run(
        f"{LOAD}{SHARED}bar.sync 0;\n{REVERSED}ld.shared.u32 %r2, [%r22];\n{STORE}",
        a,
        None,
        d,
        1,
        block,
        observers=("hazards",),
    )
    assert np.array_equal(d, a[::-1]) and report.hazards == []


def test_blocks_have_shared_memory_of_their_own():
    d = words(4)
    body = "mov.u32 %r20, smem; st.shared.u32 [%r20], %b; bar.sync 0; ld.shared.u32 %r2, [%r20];\n"
    run(body + at("%d", "%b", 4, "%q12") + "st.global.u32 [%q12], %r2;", None, None, d, 4, 1)
    assert d.tolist() == [0, 1, 2, 3]


def test_shared_memory_begins_as_ff():
    d = words(32)
    run("mov.u32 %r20, smem; ld.shared.u32 %r2, [%r20];\n" + STORE, None, None, d)
    assert set(d.tolist()) == {0xFFFFFFFF}


def test_lanes_that_part_meet_again():
    """Odd lanes square, lanes of a multiple of 4 add 100, in a branch within a branch; all of them add 1."""
    a, d = words(64), words(64)
    body = """and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 1;
    @%p1 bra ODD;
    mov.u32 %r2, %r1; and.b32 %r3, %t, 3; setp.ne.u32 %p2, %r3, 0;
    @%p2 bra MEET;
    add.u32 %r2, %r2, 100;
    bra MEET;
    ODD: mul.lo.u32 %r2, %r1, %r1;
    MEET: add.u32 %r2, %r2, 1;
    """
    run(LOAD + body + STORE, a, None, d, 1, 64)
    lane = np.arange(64)
    assert np.array_equal(d, np.where(lane % 2, a * a, np.where(lane % 4 == 0, a + 100, a)) + 1)


def test_lanes_leave_a_loop_one_after_another():
    """The length of the Collatz sequence of each thread's number."""
    a, d = words(128, 1), words(128)
    body = """mov.u32 %r2, 0;
    AGAIN: setp.eq.u32 %p1, %r1, 1;
    @%p1 bra DONE;
    and.b32 %r3, %r1, 1; setp.eq.u32 %p2, %r3, 0;
    shr.u32 %r4, %r1, 1; mad.lo.u32 %r5, %r1, 3, 1; selp.u32 %r1, %r4, %r5, %p2;
    add.u32 %r2, %r2, 1;
    bra AGAIN;
    DONE:
    """
    report = run(LOAD + body + STORE, a, None, d, 1, 128)

    def steps(number: int) -> int:
        return 0 if number == 1 else 1 + steps(number // 2 if number % 2 == 0 else 3 * number + 1)

    expected = np.array([steps(int(number)) for number in a])
    assert np.array_equal(d, expected)
    (selection,) = [site for site in report.sites if site.opcode.startswith("selp")]
    assert selection.executions == expected.reshape(-1, 32).max(1).sum(), (
        "a warp goes on as long as one of its lanes does"
    )


@pytest.mark.parametrize(
    ("mode", "operand", "clamp", "source"),
    [
        ("up", 3, 0, lambda lane: np.where(lane >= 3, lane - 3, lane)),
        ("down", 5, 31, lambda lane: np.where(lane + 5 < 32, lane + 5, lane)),
        ("bfly", 9, 31, lambda lane: lane ^ 9),
        ("idx", 17, 31, lambda lane: np.full_like(lane, 17)),
    ],
)
def test_a_shuffle_reads_the_register_of_another_lane(mode, operand, clamp, source, rng):
    a, d, lane = rng.integers(0, 1 << 32, 32, dtype="u4"), words(32), np.arange(32)
    run(f"{LOAD}shfl.sync.{mode}.b32 %r2, %r1, {operand}, {clamp}, -1;\n{STORE}", a, None, d)
    assert np.array_equal(d, a[source(lane)])


def test_a_sum_by_shuffles(rng):
    a, d = rng.integers(0, 1 << 20, 96, dtype="u4"), words(96)
    steps = "".join(
        f"shfl.sync.bfly.b32 %r3, %r1, {step}, 31, -1; add.u32 %r1, %r1, %r3;\n" for step in (16, 8, 4, 2, 1)
    )
    run(f"{LOAD}{steps}mov.u32 %r2, %r1;\n{STORE}", a, None, d, 1, 96)
    assert np.array_equal(d, a.reshape(3, 32).sum(1).repeat(32))


def test_a_ballot_has_the_bit_of_each_lane(rng):
    a, d = rng.integers(0, 2, 32, dtype="u4"), words(32)
    run(f"{LOAD}setp.ne.u32 %p1, %r1, 0; vote.sync.ballot.b32 %r2, %p1, -1;\n{STORE}", a, None, d)
    assert set(d.tolist()) == {int((a << np.arange(32, dtype="u4")).sum())}


@pytest.mark.parametrize("shared", [False, True])
def test_a_histogram_by_atomics(shared, rng):
    a, d = rng.integers(0, 16, 4 * 256, dtype="u4"), np.zeros(16, "u4")
    load = "mad.lo.u32 %r0, %b, %n, %t;\n" + at("%a", "%r0", 4, "%q10") + "ld.global.u32 %r1, [%q10];\n"
    if not shared:
        body = at("%d", "%r1", 4, "%q12") + "red.global.add.u32 [%q12], 1;"
    else:
        body = f"""mov.u32 %r20, smem; shl.b32 %r21, %t, 2; add.u32 %r21, %r21, %r20; setp.lt.u32 %p1, %t, 16;
        @%p1 st.shared.u32 [%r21], 0;
        bar.sync 0;
        shl.b32 %r22, %r1, 2; add.u32 %r22, %r22, %r20; atom.shared.add.u32 %r23, [%r22], 1;
        bar.sync 0;
        @!%p1 bra DONE;
        ld.shared.u32 %r2, [%r21];
        {at("%d", "%t", 4, "%q12")}red.global.add.u32 [%q12], %r2;
        DONE:"""
    report = run(load + body, a, None, d, 4, 256, observers=("hazards",))
    assert np.array_equal(d, np.bincount(a, minlength=16)) and report.hazards == []


def test_each_ticket_is_drawn_once():
    a, d = np.zeros(1, "u4"), words(256)
    run(
        "atom.global.add.u32 %r2, [%a], 1; mad.lo.u32 %r0, %b, %n, %t;\n"
        + at("%d", "%r0", 4, "%q12")
        + "st.global.u32 [%q12], %r2;",
        a,
        None,
        d,
        2,
        128,
    )
    assert a[0] == 256 and sorted(d.tolist()) == list(range(256))


WITH_MASK = {  # with a membermask M: the result of lane t in %r2, where %r1 is t % 2 and %p1 is t % 2 == 1
    "shfl": ("shfl.sync.idx.b32 %r2, %t, 3, 0x101f, M;", lambda t: t // 16 * 16 + 3),
    "ballot": ("vote.sync.ballot.b32 %r2, %p1, M;", lambda t: 0xAAAA << t // 16 * 16),
    "all": ("setp.lt.u32 %p1, %t, 16; vote.sync.all.pred %p2, %p1, M; selp.u32 %r2, 1, 0, %p2;", lambda t: t < 16),
    "any": ("setp.eq.u32 %p1, %t, 20; vote.sync.any.pred %p2, %p1, M; selp.u32 %r2, 1, 0, %p2;", lambda t: t >= 16),
    "uni": ("setp.eq.u32 %p1, %t, 20; vote.sync.uni.pred %p2, %p1, M; selp.u32 %r2, 1, 0, %p2;", lambda t: t < 16),
    "match": ("match.any.sync.b32 %r2, %r1, M;", lambda t: (0xAAAA >> (1 - t % 2)) << t // 16 * 16),
    "match.all": ("shr.u32 %r3, %t, 4; match.all.sync.b32 %r2|%p2, %r3, M;", lambda t: 0xFFFF << t // 16 * 16),
    "redux": ("redux.sync.max.u32 %r2, %t, M;", lambda t: t | 15),
    "elect": ("elect.sync %r2|%p2, M; selp.u32 %r2, 100, %r2, %p2;", lambda t: 100 if t % 16 == 0 else t // 16 * 16),
    "bar": ("bar.warp.sync M; mov.u32 %r2, 5;", lambda t: 5),
}
PARITY = "and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0;\n"
TILES = "and.b32 %r9, %t, 16; mov.u32 %r8, 0xffff; shl.b32 %r8, %r8, %r9;\n"  # the mask of a lane's half of the warp


@pytest.mark.parametrize("later", ["", "setp.lt.u32 %p3, %t, 7; @%p3 bra SOON; add.u32 %r7, %r7, 1; SOON:\n"])
@pytest.mark.parametrize("name", WITH_MASK)
def test_two_groups_of_a_warp_execute_one_instruction_with_masks_of_their_own(name, later):
    """As the tiles of cooperative groups; some lanes may come to it later than others."""
    code, result = WITH_MASK[name]
    d = words(64)
    run(PARITY + TILES + later + code.replace("M;", "%r8;") + STORE, None, None, d, 1, 64)
    expected = np.array([result(t) for t in range(32)])
    assert np.array_equal(d[:32], expected)


@pytest.mark.parametrize("mask", ["0xffff", "%r8"])
@pytest.mark.parametrize("name", WITH_MASK)
def test_a_lane_that_its_mask_does_not_name_is_a_fault(name, mask):
    code = WITH_MASK[name][0].replace("M;", f"{mask};")
    told = r"thread \(16, 0, 0\) executes it as lane 16 of its warp, which its membermask 0x0000ffff does not name"
    with pytest.raises(gpu_simulator.WarpFault, match=told):
        run(PARITY + "mov.u32 %r8, 0xffff;\n" + code + STORE, None, None, words(32))
    half = "mov.u32 %r8, 0xffff; setp.ge.u32 %p3, %t, 16; @%p3 bra OVER;\n"
    run(PARITY + half + code + STORE + "OVER:\n", None, None, words(32))  # the others are elsewhere
