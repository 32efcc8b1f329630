"""Observers: what they are told and in which order, several at once, and that nobody is told anything without them."""

import inspect

import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.codegen import emitter
from gpu_simulator.codegen.program import Program, program_of
from gpu_simulator.machine.observer import Observer
from gpu_simulator.observers.race_detector import RaceDetector
from gpu_simulator.ptx.parser import parse

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 p) {
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 16 .b8 s[1024];
"""
# Every thread copies 4 bytes to shared memory with cp.async, waits, reads those of its neighbour and adds to an array.
EXCHANGE = (
    HEAD
    + """
ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;
cvt.u64.u32 %rd2, %r2; add.u64 %rd3, %rd1, %rd2;
cp.async.ca.shared.global [%r3], [%rd3], 4; cp.async.commit_group; cp.async.wait_group 0;
bar.sync 0;
xor.b32 %r4, %r2, 4; mov.u32 %r5, s; add.u32 %r4, %r4, %r5; ld.shared.u32 %r6, [%r4];
st.global.u32 [%rd3], %r6; membar.gl; red.global.add.u32 [%rd1+1024], 1;
ret; }
"""
)
# Thread 0 initialises an mbarrier for 64 arrivals, and every thread arrives and waits.
ARRIVE = (
    HEAD
    + """
mov.u32 %r1, %tid.x; mov.u32 %r3, s; setp.ne.u32 %p1, %r1, 0; @%p1 bra MEET;
mbarrier.init.shared.b64 [%r3], 64;
MEET: bar.sync 0;
mbarrier.arrive.shared.b64 _, [%r3];
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra WAIT;
ret; }
"""
)
RACY = EXCHANGE.replace("bar.sync 0;", "")


class Recording(Observer):
    """Keeps the name of every event, and the opcode where it names an instruction."""

    def __init__(self, resident, said, name=""):
        super().__init__(resident)
        for event in events():
            setattr(self, event, self.hearing(event, said, name))

    def hearing(self, event, said, name):
        signature = inspect.signature(getattr(Observer, event))

        def hear(*given):
            site = signature.bind(self, *given).arguments.get("site")
            opcode = None if site is None else self.resident.program.sites[site].opcode
            said.append((name + event, opcode))

        return hear


def events() -> list[str]:
    return [name for name in vars(Observer) if not name.startswith("_")]


def array() -> np.ndarray:
    return np.arange(512, dtype=np.uint32)


def told(text, threads=64, **options) -> list[tuple]:
    said = []
    gpu_simulator.launch(
        text, "kernel", 1, threads, [array()], observers=[lambda blocks: Recording(blocks, said)], **options
    )
    return said


def test_events_come_in_the_order_of_the_kernel():
    assert told(EXCHANGE) == [
        ("read", "ld.param.u64"),
        ("read", "cp.async.ca.shared.global"),
        ("copy_issued", "cp.async.ca.shared.global"),
        ("copies_committed", "cp.async.commit_group"),
        ("copies_waited", None),
        ("barrier_everyone", "bar.sync"),
        ("read", "ld.shared.u32"),
        ("write", "st.global.u32"),
        ("fence", None),
        ("atomic", "red.global.add.u32"),
        ("threads_ended", None),
        ("ended", None),
    ]


@pytest.mark.parametrize("timing", ["early", "late"])
def test_an_mbarrier_tells_of_each_step_of_its_phase(timing):
    said = [event for event, _ in told(ARRIVE, timing=timing)]
    steps = ["mbarrier_initialised", "barrier_everyone", "mbarrier_arrives", "mbarrier_completed", "mbarrier_waits",
             "mbarrier_passed", "ended"]  # fmt: skip
    first = [said.index(step) for step in steps]
    assert first == sorted(first)
    assert said.count("mbarrier_initialised") == said.count("mbarrier_completed") == 1


def test_threads_that_wait_at_a_barrier_are_told_of_as_they_come_and_when_they_meet():
    said = [event for event, _ in told(EXCHANGE, threads=48)]
    at = said.index("barrier_arrived")
    assert said[at : at + 3] == ["barrier_arrived", "barrier_met", "read"] and "barrier_everyone" not in said


def test_several_observers_hear_the_same_and_the_race_detector_too():
    said, alone = [], told(EXCHANGE)
    observers = [lambda blocks, name=name: Recording(blocks, said, name) for name in ("a ", "b ")]
    report = gpu_simulator.launch(RACY, "kernel", 1, 64, [array()], observers=["hazards", *observers])
    assert [hazard.kind for hazard in report.hazards] == ["race"] * len(report.hazards) and report.hazards
    assert [str(h) for h in report.hazards] == [
        str(h) for h in gpu_simulator.launch(RACY, "kernel", 1, 64, [array()], observers=("hazards",)).hazards
    ]
    a, b = ([(e[2:], at) for e, at in said if e.startswith(name)] for name in ("a ", "b "))
    assert a == b == [one for one in alone if one[0] != "barrier_everyone"]
    assert [e for e, _ in said[:2]] == ["a read", "b read"], "each event goes to all before the next one"


def test_an_observer_changes_no_result_and_no_count():
    def run(**options):
        a = array()
        return a, gpu_simulator.launch(EXCHANGE, "kernel", 1, 64, [a], **options)

    plain, watched = run(), run(observers=[Observer, Observer])
    assert np.array_equal(plain[0], watched[0])
    assert plain[1].totals == watched[1].totals and plain[1].steps == watched[1].steps


def test_each_group_of_resident_blocks_has_an_observer_of_its_own(monkeypatch):
    seen = []
    monkeypatch.setattr("gpu_simulator.launching.LANES_AT_ONCE", 128)
    gpu_simulator.launch(
        EXCHANGE, "kernel", 6, 64, [array()], observers=[lambda blocks: seen.append(blocks.blocks) or Observer(blocks)]
    )
    assert seen == [2, 2, 2]


@pytest.mark.parametrize("text", [EXCHANGE, ARRIVE])
def test_without_observers_the_generated_code_tells_nobody(text):
    program = Program(parse(text), "kernel")
    told_in = {}
    for observed in (False, True):
        sources = [emitter.block_source(program, block, True, frozenset(), observed)[0] for block in program.blocks]
        told_in[observed] = "observer" in "".join(sources) or "tell(" in "".join(sources)
    assert told_in == {False: False, True: "membar" in text}


def test_the_variants_of_a_block_are_kept_apart():
    """A launch with observers and one without share the program and not its functions."""
    told(EXCHANGE)
    gpu_simulator.launch(EXCHANGE, "kernel", 1, 64, [array()])
    assert {key[3] for key in program_of(EXCHANGE, "kernel")._functions} == {False, True}


def test_every_event_is_described_and_heard_as_it_is_told():
    """An observer that overrides an event takes what the interface passes."""
    for event in events():
        assert inspect.getdoc(getattr(Observer, event)), event
        own = vars(RaceDetector).get(event)
        if own is not None:
            wanted, has = (inspect.signature(f).parameters for f in (getattr(Observer, event), own))
            assert len(wanted) == len(has), event


@pytest.mark.parametrize("observers", ["hazard", ["hazards", "counts"]])
def test_an_unknown_name_is_refused_with_the_name_there_is(observers):
    with pytest.raises(
        gpu_simulator.LaunchError, match="There is no observer '(hazard|counts)'. By name there is 'hazards'"
    ):
        gpu_simulator.launch(RACY, "kernel", 1, 64, [array()], observers=observers)


def test_a_name_may_stand_alone_and_counts_once():
    alone, twice = (
        gpu_simulator.launch(RACY, "kernel", 1, 64, [array()], observers=observers).hazards
        for observers in ("hazards", ["hazards", "hazards"])
    )
    assert [*map(str, alone)] == [*map(str, twice)] != []
