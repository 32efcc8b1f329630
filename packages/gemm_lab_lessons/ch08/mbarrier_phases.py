"""An mbarrier as four numbers, and how arrivals, announced bytes and waits change them, step by step.

A phase completes when no arrival and no byte is pending. The barrier is then in the next phase, and all its arrivals
are pending again without a reset by the program. A wait names a parity: 0 for phases 0, 2, 4 …, and 1 for the others.
That parity stands for either the current phase or the one before it, and the wait returns once that phase is complete.
On a barrier just initialised, the phase before the first counts as complete; its parity is 1.
Source: PTX ISA, "mbarrier", "mbarrier.test_wait".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gemm_lab.source_text import plural
from gemm_results.errors import LabError

A_BYTES, B_BYTES = 128 * 64 * 2, 64 * 256 * 2
STAGE_BYTES = A_BYTES + B_BYTES  # one stage of the B200's kernels: 16 KiB of A and 32 KiB of B


@dataclass(frozen=True)
class Barrier:
    """The state of an mbarrier.

    expected: arrivals per phase.   pending: those still missing.   bytes: announced, not yet copied.   phase: from 0.
    """

    expected: int
    pending: int
    bytes: int = 0
    phase: int = 0

    @property
    def parity(self) -> int:
        """Parity, 0 or 1, of the current phase, which is not complete."""
        return self.phase & 1

    def passes(self, parity: int) -> bool:
        """Whether a wait for `parity` returns at once."""
        return parity != self.parity

    def changed(self, arrivals: int = 0, more_bytes: int = 0) -> Barrier:
        """The barrier after `arrivals` arrivals and `more_bytes` bytes: positive if announced, negative if copied.

        Raises `LabError` for more arrivals than are pending.
        """
        if arrivals > self.pending:
            raise LabError(f"One arrival too many: phase {self.phase} misses {self.pending} of {self.expected}.")
        after = replace(self, pending=self.pending - arrivals, bytes=self.bytes + more_bytes)
        if after.pending == 0 and after.bytes == 0:
            return Barrier(self.expected, self.expected, 0, self.phase + 1)
        return after


def stage_and_parities(k_tile: int, num_stages: int) -> tuple[int, int, int]:
    """For a k tile: (stage, parity of the consumer's wait on `full`, parity of the producer's wait on `empty`).

    In a ring of `num_stages` stages, k tile t is loaded in round t // num_stages. In the first round the producer waits
    for parity 1. On a barrier just initialised that phase counts as complete, so the wait returns at once.
    """
    round_ = k_tile // num_stages
    return k_tile % num_stages, round_ % 2, (round_ + 1) % 2


@dataclass(frozen=True)
class Moment:
    """The state after one step."""

    who: str  # the unit that took the step
    code: str  # the call, or what the hardware did
    barrier: Barrier  # after the step
    waiting: tuple[tuple[str, int], ...]  # (who, parity) of each wait that has not returned
    released: tuple[str, ...]  # those whose wait returned because of this step
    says: str  # the step in words
    good: bool = True  # False if the step is a mistake or the result of one


def play(arrivals: int, steps: list[tuple]) -> list[Moment]:
    """The `Moment` after each of `steps`, preceded by that of the initialisation with `arrivals` arrivals per phase.

    A step is (who, what, value, words[, good]). what: "arrive" (`value` is the code to show, "" for the usual call) ·
    "expect" (an arrival that announces `value` bytes) · "bytes" (`value` bytes were copied) · "wait" (for parity
    `value`) · "do" (`value` is the code to show; the barrier does not change). Raises `LabError` for another `what`
    and for more arrivals than are pending.
    """
    barrier, waiting = Barrier(arrivals, arrivals), []
    begun = f"Phase 0 has begun. It needs {plural(arrivals, 'arrival')}."
    moments = [Moment("one thread", f"mbarrier_init(barrier, {arrivals})", barrier, (), (), begun)]
    for who, what, value, words, *rest in steps:
        before, code = barrier.phase, value
        if what == "arrive":
            barrier, code = barrier.changed(arrivals=1), value or "mbarrier_arrive(barrier)"
        elif what == "expect":
            barrier, code = barrier.changed(1, value), f"mbarrier_arrive_expect_tx(barrier, {value})"
        elif what == "bytes":
            barrier, code = barrier.changed(more_bytes=-value), f"complete_tx: {value:,} bytes have come"
        elif what == "wait":
            code = f"mbarrier_wait_parity(barrier, {value})"
            if not barrier.passes(value):
                waiting.append((who, value))
        elif what != "do":
            raise LabError(f"There is no step “{what}”; there are arrive, expect, bytes, wait, do.")
        released = tuple(name for name, parity in waiting if barrier.passes(parity))
        waiting = [(name, parity) for name, parity in waiting if not barrier.passes(parity)]
        over = f" Phase {before} is over." if barrier.phase > before else ""
        moments.append(Moment(who, code, barrier, tuple(waiting), released, words + over, rest[0] if rest else True))
    return moments


def _filled(phase: int) -> list[tuple]:
    return [
        ("producer", "expect", STAGE_BYTES, "The only arrival. The phase now waits for bytes alone."),
        ("TMA", "bytes", A_BYTES, "The box of A is there."),
        ("TMA", "bytes", B_BYTES, "The box of B is there, and nothing is missing any more."),
    ]


STORIES = {
    "full: the bytes of a stage": (
        1,
        [
            ("consumer", "wait", 0, "Phase 0 is not over: the consumer waits."),
            *_filled(0),
            ("consumer", "do", "multiply(stage)", "Meanwhile the barrier is in phase 1, and again misses its arrival."),
            ("consumer", "wait", 1, "Next time round the ring it waits for parity 1, which is phase 1."),
            *_filled(1),
            ("consumer", "do", "multiply(stage)", "And then for parity 0 again, which will be phase 2."),
        ],
    ),
    "empty: the tensor cores free a stage": (
        1,
        [
            ("producer", "wait", 1, "The phase before the first counts as over: the first round waits for nobody."),
            ("producer", "do", "copy(stage)", "The first bytes of this stage."),
            ("producer", "wait", 0, "One round later: the products of phase 0 may still read the stage."),
            ("tensor core", "arrive", "tcgen05_commit(barrier)", "All products issued before the commit are done."),
            ("producer", "do", "copy(stage)", "It may overwrite the stage."),
            ("producer", "wait", 1, "And waits for the next commit, of phase 1."),
            ("tensor core", "arrive", "tcgen05_commit(barrier)", "The second round's products are done."),
        ],
    ),
    "wrong parity: 1 where 0 is meant": (
        1,
        [
            ("consumer", "wait", 1, "It returns at once: the phase of parity 1 is the one before the first.", False),
            ("consumer", "do", "multiply(stage)", "It reads a stage into which nothing was copied yet.", False),
            *_filled(0),
        ],
    ),
    "parity never flipped": (
        1,
        [
            ("consumer", "wait", 0, "Phase 0 is not over: the consumer waits."),
            *_filled(0),
            ("consumer", "do", "multiply(stage)", "So far all is well."),
            ("consumer", "wait", 0, "It returns at once, because phase 0 is still the last that is over.", False),
            ("consumer", "do", "multiply(stage)", "It multiplies the old bytes a second time.", False),
        ],
    ),
    "too many bytes announced": (
        1,
        [
            ("consumer", "wait", 0, "Phase 0 is not over: the consumer waits."),
            ("producer", "expect", STAGE_BYTES + A_BYTES, "It announces A twice.", False),
            ("TMA", "bytes", A_BYTES, "The box of A is there."),
            ("TMA", "bytes", B_BYTES, "Nothing more will come, and 16,384 bytes are missing: this hangs.", False),
        ],
    ),
    "four warps let go of an accumulator": (
        4,
        [
            ("MMA warp", "wait", 0, "The accumulator still holds a tile that four warps are reading."),
            ("warp 2", "arrive", "", "Warps arrive in any order."),
            ("warp 0", "arrive", "", "Two are missing."),
            ("warp 3", "arrive", "", "One is missing."),
            ("warp 1", "arrive", "", "The last one."),
            ("MMA warp", "do", "multiply(accumulator)", "Four new arrivals are needed for phase 1."),
        ],
    ),
}
