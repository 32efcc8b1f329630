"""Arrivals at barriers of a block that another order of the warps would count in another phase."""

import random

import numpy as np
import pytest

from gpu_simulator import BarrierFault

HEAD = 'extern "C" __global__ void kernel'
SYNC, ARRIVE = "bar.sync", "bar.arrive"


def body(programs, threads):
    """The text of a kernel of one warp for each program; a program is a list of (what, number of the barrier)."""
    lines = []
    for warp, program in enumerate(programs):
        steps = "".join(f' asm volatile("{what} {number}, {threads};" ::: "memory");' for what, number in program)
        lines.append(f"  if (threadIdx.x / 32 == {warp}) {{{steps} }}")
    return HEAD + "(int* p) {\n" + "\n".join(lines) + "\n  p[threadIdx.x] = 1;\n}"


def early(report):
    return [str(hazard) for hazard in report.hazards if hazard.kind == "early arrival"]


def judged(cuda, programs, threads):
    count = 32 * len(programs)
    return early(cuda(body(programs, threads), np.zeros(count, np.int32), block=count, observers=("hazards",)))


def test_a_warp_that_only_arrives_and_comes_again(cuda):
    found = judged(cuda, [[(SYNC, 1), (SYNC, 1)], [(ARRIVE, 1), (SYNC, 1)]], 64)
    assert len(found) == 1
    assert "kernel.cu:3" in found[0] and "kernel.cu:2" in found[0] and "barrier 1" in found[0] and "is late" in found[0]


@pytest.mark.parametrize(
    "programs",
    [
        [[(SYNC, 1)] * 3] * 2,  # all wait every time
        [[(SYNC, 1), (SYNC, 2)], [(ARRIVE, 1), (SYNC, 2)]],  # two numbers
        [[(SYNC, 1), (ARRIVE, 2)] * 3, [(ARRIVE, 1), (SYNC, 2)] * 3],  # each tells the other (producer and consumer)
        [[(SYNC, 1), (SYNC, 2), (SYNC, 1)], [(ARRIVE, 1), (SYNC, 2), (SYNC, 1)]],  # another barrier in between
    ],
)
def test_right_ones_are_left_alone(cuda, programs):
    assert judged(cuda, programs, 64) == []


def test_two_groups_that_take_turns_with_two_numbers(cuda):
    """The groups of two warps use the same two barriers in the opposite order: four warps for two places."""
    programs = [[(SYNC, 1), (SYNC, 2)]] * 2 + [[(SYNC, 2), (SYNC, 1)]] * 2
    assert judged(cuda, programs, 64)
    assert judged(cuda, [[(SYNC, 1), (SYNC, 2)]] * 2 + [[(SYNC, 3), (SYNC, 4)]] * 2, 64) == []


def test_the_whole_block_may_use_the_number_again_if_everyone_waited(cuda):
    source = HEAD + "(int* p) { for (int i = 0; i < 3; ++i) { EACH } p[threadIdx.x] = 1; }"
    for each in ("__syncthreads();", 'asm volatile("bar.sync 3, 96;" ::: "memory"); __syncthreads();'):
        report = cuda(source.replace("EACH", each), np.zeros(96, np.int32), block=96, observers=("hazards",))
        assert report.hazards == []


def outcomes(programs, needed):
    """All ways in which arrivals can be grouped into phases: a set of tuples, for brute force over orders of warps."""
    found = set()

    def go(places, waiting, phases, blocked):
        moved = False
        for warp, place in enumerate(places):
            if warp in blocked or place == len(programs[warp]):
                continue
            moved = True
            what, number = programs[warp][place]
            here = [*waiting.get(number, ()), (warp, place)]
            stopped = blocked | {warp} if what == SYNC else blocked
            now, done = {**waiting, number: tuple(here)}, phases
            if len(here) == needed:
                now.pop(number)
                done = (*phases, (number, tuple(sorted(here))))
                stopped = stopped - {one for one, _ in here}
            go((*places[:warp], place + 1, *places[warp + 1 :]), now, done, stopped)
        if not moved:
            found.add(tuple(sorted(phases)) + (("stuck", len(blocked)),) * bool(blocked))

    go((0,) * len(programs), {}, (), frozenset())
    return found


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("seed", range(60))
def test_it_is_found_exactly_if_the_order_of_the_warps_matters(cuda, seed):
    """Random programs of three warps, in which two arrivals end a phase, against all orders."""
    draw = random.Random(seed)
    while True:
        programs = [
            [(draw.choice((SYNC, ARRIVE)), draw.choice((1, 2))) for _ in range(draw.randint(1, 3))] for _ in "abc"
        ]
        ways = outcomes(programs, 2)
        if not any(place[0] == "stuck" for way in ways for place in way) and all(ways):
            break
    alone = [program for program in programs if program]
    assert len(alone) == 3
    assert bool(judged(cuda, programs, 64)) == (len(ways) > 1), (programs, ways)


@pytest.mark.parametrize(
    ("what", "number", "count", "sentence"),
    [
        ("sync", 16, 64, "uses barrier 16; a block has barriers 0 to 15"),
        ("arrive", 1 << 20, 64, "uses barrier 1,048,576"),
        ("sync", 1, 48, "for 48 threads; a barrier counts whole warps"),
        ("arrive", 1, 0, "for 0 threads"),
    ],
)
def test_barriers_that_no_gpu_has(cuda, what, number, count, sentence):
    step = f'asm volatile("bar.{what} %0, %1;" :: "r"(number), "r"(count) : "memory");'
    source = HEAD + f"(int* p, int number, int count) {{ {step} p[threadIdx.x] = 1; }}"
    for observers in ((), ("hazards",)):
        with pytest.raises(BarrierFault, match=sentence):
            cuda(source, np.zeros(64, np.int32), number, count, block=64, observers=observers)


def test_the_last_barrier_is_one(cuda):
    source = HEAD + '(int* p, int n) { asm volatile("bar.sync %0;" :: "r"(n) : "memory"); p[threadIdx.x] = 1; }'
    cuda(source, np.zeros(64, np.int32), 15, block=64)
    with pytest.raises(BarrierFault, match="uses barrier 16"):
        cuda(source, np.zeros(64, np.int32), 16, block=64)


def test_threads_that_meet_name_the_same_number(cuda):
    step = 'asm volatile("bar.sync 1, %0;" :: "r"(threadIdx.x < 32 ? count : 64) : "memory");'
    source = HEAD + f"(int* p, int count) {{ {step} p[threadIdx.x] = 1; }}"
    cuda(source, np.zeros(64, np.int32), 64, block=64)
    with pytest.raises(BarrierFault, match="for (96|64) threads, and others wait there for (64|96)"):
        cuda(source, np.zeros(64, np.int32), 96, block=64)
