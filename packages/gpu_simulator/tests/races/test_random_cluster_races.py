"""Random programs of stores and loads in the shared memory of both blocks of a cluster, with every barrier between them:
every report names a true race, and no racing program is let pass.
"""

import re

import numpy as np
import pytest

import gpu_simulator

BLOCKS, CLUSTER, THREADS, WORDS = 4, 2, 64, 64
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel() {
.reg .b32 %t, %i, %v, %s, %o, %r;
.reg .pred %p;
.shared .align 8 .b8 bar[8];
.shared .align 4 .b8 s[256];
mov.u32 %t, %tid.x; mov.u32 %s, s; setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared::cta.b64 [bar], 64; mov.u32 %r, %cluster_ctarank; xor.b32 %r, %r, 1; mapa.shared::cluster.u32 %o, %s, %r;
shl.b32 %i, %t, 2; add.u32 %i, %i, %s; st.shared.u32 [%i], %t; barrier.cluster.arrive; barrier.cluster.wait;
"""
TEXT = {
    "sync": "bar.sync 0;",
    "warp": "bar.warp.sync -1;",
    "meet": "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;",
    "arrive": "barrier.cluster.arrive.release;",
    "relaxed": "barrier.cluster.arrive.relaxed;",
    "fenced": "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;",
    "wait": "barrier.cluster.wait;",
}
ARRIVALS = ("arrive", "relaxed", "fenced")
# Every thread arrives at the mbarrier of the other block, and waits at its own.
SIGNAL = """{{ .reg .b32 %far; mov.u32 %far, bar; mapa.shared::cluster.u32 %far, %far, %r; \
mbarrier.arrive.{order}.cluster.shared::cluster.b64 _, [%far]; mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], {parity}; }}"""


class Step:
    """One line: a barrier or an access. index: ((t ^ flip) + shift) & mask, in the other block if `across`."""

    def __init__(self, random, kind: str):
        self.kind, self.parity = kind, 0
        self.across = random.random() < 0.5
        self.flip, self.shift = int(random.choice([0, 0, 0, 1, 32])), int(random.choice([0, 0, 0, 1, 32]))
        self.mask = int(random.choice([63] * 8 + [31]))
        self.value = int(random.integers(1000, 1 << 20))

    def text(self) -> str:
        if self.kind in TEXT:
            return TEXT[self.kind]
        if self.kind in ("signal", "whisper"):
            return SIGNAL.format(order="release" if self.kind == "signal" else "relaxed", parity=self.parity)
        base, space = ("%o", "shared::cluster") if self.across else ("%s", "shared")
        index = f"xor.b32 %i, %t, {self.flip}; add.u32 %i, %i, {self.shift}; and.b32 %i, %i, {self.mask}; "
        index += f"shl.b32 %i, %i, 2; add.u32 %i, %i, {base}; "
        if self.kind == "load":
            return index + f"ld.{space}.u32 %v, [%i];"
        return f"{index}mad.lo.u32 %v, %r, 64, %t; add.u32 %v, %v, {self.value}; st.{space}.u32 [%i], %v;"

    def places(self) -> np.ndarray:
        """The word that each thread of the grid touches."""
        thread, block = np.arange(BLOCKS * THREADS) % THREADS, np.arange(BLOCKS * THREADS) // THREADS
        return (((thread ^ self.flip) + self.shift) & self.mask) + WORDS * (block ^ self.across)


def racing_pairs(steps) -> set[tuple[int, int]]:
    """(earlier, later) numbers of the steps that race, by clocks of every thread.

    known[a, b]: thread a may rely on what thread b did in the steps before that number.
    """
    who = np.arange(BLOCKS * THREADS)
    teams = {"sync": who // THREADS, "warp": who // 32, "cluster": who // (THREADS * CLUSTER)}
    known, published, found = np.zeros((len(who),) * 2, int), None, set()

    def joined(team):
        out = np.empty_like(known)
        for number in np.unique(team):
            out[team == number] = known[team == number].max(0)
        return out

    for j, step in enumerate(steps):
        known[who, who] = j
        if step.kind in ("sync", "warp"):
            known = joined(teams[step.kind])
        if step.kind in ("meet", "arrive", "fenced"):
            published = joined(teams["cluster"])
        if step.kind == "relaxed":
            published = np.zeros_like(known)
        if step.kind == "signal":
            known = np.maximum(known, joined(teams["sync"])[who ^ THREADS])
        if step.kind in ("meet", "wait"):
            known = np.maximum(known, published)
        if step.kind not in ("load", "store"):
            continue
        for i, other in enumerate(steps[: j + 1]):
            if other.kind in ("load", "store") and "store" in (step.kind, other.kind):
                meet = step.places()[:, None] == other.places()
                if (meet & (known <= i) & ~np.eye(len(who), dtype=bool)).any():
                    found.add((i, j))
    return found


def reported_pairs(first: int, text: str) -> set[tuple[int, int]]:
    report = gpu_simulator.launch(text, "kernel", BLOCKS, THREADS, [], cluster=CLUSTER, observers=("hazards",))
    assert {h.kind for h in report.hazards} <= {"race"}
    pairs = set()
    for hazard in report.hazards:
        lines = [int(line) - first for line in re.findall(r"PTX line (\d+)", str(hazard))]
        pairs.add((min(lines), max(lines)))
    return pairs


def program(seed: int, length: int, barriers: float):
    random, steps, pending, phases = np.random.default_rng(seed), [], False, 0
    while len(steps) < length or pending:
        kind = str(random.choice(["load", "store"]))
        if random.random() < barriers or len(steps) >= length:
            free = ["sync", "warp", "meet", "signal", "signal", "whisper", *ARRIVALS]
            kind = str(random.choice(["sync", "wait", "wait", "signal"] if pending else free))
            pending = kind in ARRIVALS or (pending and kind != "wait")
        steps.append(Step(random, kind))
        steps[-1].parity, phases = phases & 1, phases + (kind in ("signal", "whisper"))
    end = "barrier.cluster.arrive; barrier.cluster.wait;\nret;\n}\n"
    return steps, HEAD.count("\n") + 1, HEAD + "".join(step.text() + "\n" for step in steps) + end


@pytest.mark.long
@pytest.mark.parametrize(("length", "barriers"), [(4, 0.4), (8, 0.6), (14, 0.7)])
def test_reports_are_races_and_races_are_reported(length, barriers):
    racing = clean = 0
    for seed in range(100):
        steps, first, text = program(1000 * length + seed, length, barriers)
        expected, got = racing_pairs(steps), reported_pairs(first, text)
        assert got <= expected, f"no race: {got - expected}\n{text}"
        assert bool(got) == bool(expected), f"missed: {expected}\n{text}"
        racing, clean = racing + bool(expected), clean + (not expected)
    assert racing > 15 and clean > 15


def test_the_definition_knows_what_orders():
    random = np.random.default_rng(0)

    def step(kind, **changes):
        made = Step(random, kind)
        made.__dict__.update({"across": False, "flip": 0, "shift": 0, "mask": 63} | changes)
        return made

    write, far, meet, sync = step("store"), step("load", across=True), step("meet"), step("sync")
    assert racing_pairs([write, far]) == {(0, 1)}
    assert racing_pairs([write, sync, far]) == {(0, 2)} and racing_pairs([write, meet, far]) == set()
    assert racing_pairs([write, step("arrive"), step("wait"), far]) == set()
    assert racing_pairs([step("arrive"), write, step("wait"), far]) == {(1, 3)}
    assert racing_pairs([write, step("relaxed"), step("wait"), far]) == {(0, 3)}
    assert racing_pairs([write, sync, step("load", flip=32)]) == set() == racing_pairs([write, step("signal"), far])
    assert (
        racing_pairs([write, step("signal"), step("load", flip=32)])
        == {(0, 2)}
        == racing_pairs([write, step("whisper"), far])
    )
