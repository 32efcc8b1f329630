"""Traces in logical time: what places them, what a timeline may not show, and where the rates come from."""

import pytest

from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.data_sheets import GPUS, gpu
from gpu_timing.logical.pipeline_placing import FLOP_PER_CLOCK, Costs, place
from gpu_timing.logical.pipeline_timeline import Event, Timeline, broken_laws
from gpu_timing.logical.trace import Step, Trace

COSTS = Costs(flop=8192, load_bytes=128, load_latency=600, mma_latency=128, signal=64, issue=16)
BYTES, FLOP = 49152.0, 2.0 * 128 * 256 * 64  # of a stage; 384 units, and 512
DONE = 9  # a barrier that is no stage


def full(stage, turn):
    return 0, stage, turn


def empty(stage, turn):
    return 0, 100 + stage, turn


def producer(k_tiles, stages):
    steps = []
    for number in range(k_tiles):
        stage, turn = number % stages, number // stages
        steps += [
            Step("wait", signal=empty(stage, turn - 1)),
            Step("arrive", signal=full(stage, turn)),
            Step("load", BYTES, signal=full(stage, turn), stage=stage, turn=turn),
        ]
    return steps


def multiplier(k_tiles, stages, synchronous):
    """What the B200's first two kernels do: wait for each k tile's products, or only commit them."""
    steps = []
    for number in range(k_tiles):
        stage, turn = number % stages, number // stages
        steps += [
            Step("wait", signal=full(stage, turn)),
            Step("async", FLOP, "tcgen05", stage=stage, turn=turn, tile=0),
        ]
        if synchronous:
            steps += [
                Step("commit", unit="tcgen05", signal=(0, DONE, number)),
                Step("wait", signal=(0, DONE, number)),
                Step("arrive", signal=empty(stage, turn)),
            ]
        else:
            steps.append(Step("commit", unit="tcgen05", signal=empty(stage, turn)))
    return steps


def ring(synchronous, k_tiles=8, stages=4, costs=COSTS):
    steps = {(0, 0): multiplier(k_tiles, stages, synchronous), (0, 4): producer(k_tiles, stages)}
    return place(Trace(steps, stages, "a ring"), costs)


def test_the_synchronous_ring_has_a_bubble_after_every_k_tile_and_the_pipelined_none():
    slow, fast = ring(True), ring(False)
    assert broken_laws(slow) == broken_laws(fast) == []
    assert len(slow.bubbles()) == 7 and fast.bubbles() == []
    # From the last product of a k tile to the first of the next: the way to the waiting warp, and its next request.
    assert {round(end - start) for start, end in slow.bubbles()} == {128 + 64 + 16}
    assert fast.share() == pytest.approx(1) and slow.share() == pytest.approx(8 * 512 / (8 * 512 + 7 * 208))


def test_a_ring_that_is_too_short_for_the_latency_waits_for_bytes():
    deep, shallow = ring(False, stages=4), ring(False, stages=1)
    assert shallow.share() < 0.5 < deep.share()
    assert {event.stage for event in shallow.of("TMA")} == {0}


def test_a_buffer_that_is_freed_before_it_was_read_breaks_the_laws():
    early = []
    for step in multiplier(8, 4, False):
        if step.what == "commit":
            early.insert(-1, Step("arrive", signal=step.signal))
        else:
            early.append(step)
    broken = place(Trace({(0, 0): early, (0, 4): producer(8, 4)}, 4), Costs(flop=512))
    assert any("while it is multiplied" in law for law in broken_laws(broken))


def test_bytes_that_come_slower_than_products_set_the_pace():
    slow = ring(False, costs=Costs(flop=8192, load_bytes=64))
    loads = slow.of("TMA", "load")
    assert loads[-1].end - loads[0].start == pytest.approx(8 * BYTES / 64)
    assert slow.share() < 0.72


def test_loads_get_the_tile_and_the_epilogue_the_tile_that_it_waited_for():
    steps = {
        (0, 0): [
            Step("wait", signal=full(0, 0)),
            Step("async", FLOP, "tcgen05", stage=0, turn=0, tile=3),
            Step("commit", unit="tcgen05", signal=(0, DONE, 0)),
        ],
        (0, 1): [Step("wait", signal=(0, DONE, 0)), Step("epilogue", 512.0, "registers")],
        (0, 4): producer(1, 1),
    }
    made = place(Trace(steps, 1), COSTS)
    assert made.of("TMA", "load")[0].tile == 3 and made.of("warp 1", "epilogue")[0].tile == 3
    assert made.of("warp 1", "wait")[0].end == made.of("tensor core")[0].end + 128 + 64


def test_groups_of_stores_are_drained_from_the_oldest_on():
    steps = [
        Step("async", 1280.0, "stores"),
        Step("commit", unit="stores"),
        Step("async", 12800.0, "stores"),
        Step("commit", unit="stores"),
        Step("drain", unit="stores", newest=1),
        Step("epilogue", 0.0, "registers"),
    ]
    made = place(Trace({(0, 0): steps}), COSTS)
    first, second = made.of("TMA store")
    assert first.end <= second.start and made.of("warp 0", "wait") == []  # the first is over by then
    whole = place(Trace({(0, 0): [*steps[:4], Step("drain", unit="stores")]}), COSTS)
    assert whole.of("warp 0", "wait")[0].end == second.end + COSTS.signal


def test_warps_share_the_tensor_core_of_their_number_mod_4():
    steps = {(0, warp): [Step("mma", 8192.0, stage=None, tile=0)] for warp in (0, 1, 4)}
    made = place(Trace(steps), COSTS)
    assert [e.start for e in made.of("tensor core 0")] == [0, 4] and [e.start for e in made.of("tensor core 1")] == [0]


def test_a_wait_for_what_never_comes_is_a_deadlock_in_words():
    steps = {
        (0, 0): [Step("wait", signal=(0, 1, 0)), Step("arrive", signal=(0, 2, 0))],
        (0, 1): [Step("wait", signal=(0, 2, 0)), Step("arrive", signal=(0, 1, 0))],
    }
    with pytest.raises(SimulatorError, match="deadlock: warp 0 · other waits for"):
        place(Trace(steps), COSTS)


@pytest.mark.parametrize(
    ("events", "law"),
    [
        (
            [Event("TMA", "load", 0, 0, 0, 9), Event("TMA", "load", 1, 0, 8, 17)],
            "load starts at 8, while load lasts to 9",
        ),
        ([Event("tensor core", "mma", 0, 0, 5, 9), Event("TMA", "load", 0, 0, 6, 12)], "before its first bytes came"),
        (
            [
                Event("TMA", "load", 0, 0, 0, 4),
                Event("tensor core", "mma", 0, 0, 5, 9),
                Event("TMA", "load", 0, 1, 6, 12),
            ],
            "bytes come at 6, while it is multiplied until 9",
        ),
        ([Event("TMA", "load", 0, 0, 4, 3)], "before its start"),
    ],
)
def test_broken_laws_are_found(events, law):
    assert any(law in found for found in broken_laws(Timeline(tuple(events), stages=1)))


def test_the_rates_are_those_of_the_data_sheets():
    assert set(FLOP_PER_CLOCK) == set(GPUS)
    for key, flop in FLOP_PER_CLOCK.items():
        device = gpu(key)
        peak = device.peak("f16" if key == "t4" else "bf16", "f32")
        mhz = peak * 1e6 / device.sms / flop
        known = {"h100": 1830, "h200": 1830}.get(key, device.boost_mhz)
        assert known is None or mhz == pytest.approx(known, rel=0.01), key
        assert 1300 < mhz < 2500, key


def test_impossible_costs_are_refused():
    with pytest.raises(SimulatorError, match="load_bytes is 0; it must be more than 0"):
        Costs.of(gpu("b200"), load_bytes=0)
    with pytest.raises(SimulatorError, match="signal is -1; it must be at least 0"):
        Costs.of(gpu("b200"), signal=-1)
    assert Costs.of(gpu("b200"), signal=0).flop == 8192


def test_windows_cut_events():
    part = ring(False).between(1000, 1500)
    assert part.start >= 1000 and part.end <= 1500 and part.events
