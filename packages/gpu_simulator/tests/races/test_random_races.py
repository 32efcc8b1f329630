"""Random programs of stores, loads and barriers: every report names a true race, and no racing program is let pass."""

import re

import numpy as np
import pytest

import gpu_simulator

BLOCKS, THREADS, WORDS = 2, 64, 64
HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 p) {
.reg .b32 %t, %b, %i, %v, %s;
.reg .b64 %p, %a;
.shared .align 4 .b8 s[256];
ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %s, s;
"""
FILL = "shl.b32 %i, %t, 2; add.u32 %i, %i, %s; st.shared.u32 [%i], %t; bar.sync 0;\n"


class Step:
    """One line: "sync", "warp", or an access. index: ((t ^ flip) + shift) & mask, plus 64 · block if `apart`."""

    def __init__(self, random, barriers=0.25):
        share = [0.7 * barriers, 0.3 * barriers, 0.6 * (1 - barriers), 0.4 * (1 - barriers)]
        self.kind = random.choice(["sync", "warp", "load", "store"], p=share)
        self.shared = random.random() < 0.7
        self.flip, self.shift = int(random.choice([0, 0, 0, 1, 5, 32])), int(random.choice([0, 0, 0, 1, 32]))
        self.mask = int(random.choice([63] * 8 + [3, 31]))
        self.apart = random.random() < 0.9
        self.value = int(random.integers(1000, 1 << 20))

    def text(self) -> str:
        if self.kind in ("sync", "warp"):
            return "bar.sync 0;" if self.kind == "sync" else "bar.warp.sync -1;"
        index = f"xor.b32 %i, %t, {self.flip}; add.u32 %i, %i, {self.shift}; and.b32 %i, %i, {self.mask}; "
        if self.shared:
            index += "shl.b32 %i, %i, 2; add.u32 %i, %i, %s; "
        else:
            index += "mad.lo.u32 %i, %b, 64, %i; " if self.apart else ""
            index += "mul.wide.u32 %a, %i, 4; add.u64 %a, %a, %p; "
        place = "shared.u32 {}[%i]" if self.shared else "global.u32 {}[%a]"
        if self.kind == "load":
            return index + f"ld.{place.format('%v, ')};"
        # A value of its own for every thread and line: stores of equal values are another matter.
        return f"{index}mad.lo.u32 %v, %b, 64, %t; add.u32 %v, %v, {self.value}; st.{place.format('')}, %v;"

    def places(self) -> np.ndarray:
        """The word that each thread of the grid touches."""
        thread, block = np.arange(BLOCKS * THREADS) % THREADS, np.arange(BLOCKS * THREADS) // THREADS
        index = ((thread ^ self.flip) + self.shift) & self.mask
        return index + WORDS * block * (True if self.shared else self.apart)


def racing_pairs(steps) -> set[tuple[int, int]]:
    """(earlier, later) numbers of the steps that race, by definition: all pairs of threads are looked at."""
    who = np.arange(BLOCKS * THREADS)
    same_block = who[:, None] // THREADS == who // THREADS
    same_warp = who[:, None] // 32 == who // 32
    found = set()
    for i, one in enumerate(steps):
        for j, other in enumerate(steps[i:], i):
            if {one.kind, other.kind} & {"sync", "warp"} or "store" not in (one.kind, other.kind):
                continue
            if one.shared != other.shared:
                continue
            between = {step.kind for step in steps[i:j]}
            ordered = np.eye(len(who), dtype=bool)
            ordered |= same_block & ("sync" in between) | same_warp & ("warp" in between)
            meet = one.places()[:, None] == other.places()
            if one.shared:
                meet &= same_block
            if (meet & ~ordered).any():
                found.add((i, j))
    return found


def reported_pairs(steps, first: int, text: str) -> set[tuple[int, int]]:
    p = np.zeros(2 * WORDS, np.uint32)
    report = gpu_simulator.launch(text, "kernel", BLOCKS, THREADS, [p], observers=("hazards",))
    assert {h.kind for h in report.hazards} <= {"race"}
    pairs = set()
    for hazard in report.hazards:
        lines = [int(line) - first for line in re.findall(r"PTX line (\d+)", str(hazard))]
        pairs.add((min(lines), max(lines)))
    return pairs


def program(seed: int, length: int, barriers: float):
    random = np.random.default_rng(seed)
    steps = [Step(random, barriers) for _ in range(length)]
    text = HEAD + FILL + "".join(step.text() + "\n" for step in steps) + "ret;\n}\n"
    return steps, (HEAD + FILL).count("\n") + 1, text


@pytest.mark.sampled(every=3, first=1)
@pytest.mark.parametrize(("length", "barriers"), [(3, 0.25), (6, 0.4), (12, 0.55)])
def test_reports_are_races_and_races_are_reported(length, barriers):
    racing = clean = 0
    for seed in range(150):
        steps, first, text = program(1000 * length + seed, length, barriers)
        expected, got = racing_pairs(steps), reported_pairs(steps, first, text)
        assert got <= expected, f"no race: {got - expected}\n{text}"
        assert bool(got) == bool(expected), f"missed: {expected}\n{text}"
        racing, clean = racing + bool(expected), clean + (not expected)
    assert racing > 20 and clean > 20


def test_the_definition_knows_what_orders():
    random = np.random.default_rng(0)

    def step(kind, **changes):
        made = Step(random)
        made.kind, made.shared, made.flip, made.shift, made.mask = kind, True, 0, 0, 63
        made.__dict__.update(changes)
        return made

    write, across, beside = step("store"), step("load", flip=32), step("load", flip=1)
    assert racing_pairs([write, across]) == {(0, 1)} == racing_pairs([write, beside])
    assert racing_pairs([write, step("sync"), across]) == set() == racing_pairs([write, step("warp"), beside])
    assert racing_pairs([write, step("warp"), across]) == {(0, 2)}
    assert racing_pairs([step("store", mask=31)]) == {(0, 0)}
