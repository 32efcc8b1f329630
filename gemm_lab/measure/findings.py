"""What a profile card suggests: a short list of rules, each with the counter that it rests on.

A rule speaks only where its counter was recorded and is past its threshold. The thresholds are ours: they decide what
is worth a sentence, not what is true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gemm_lab.compiler.instruction_classes import INTEGER, TENSOR
from gemm_lab.measure.cards import ProfileCard
from gemm_lab.measure.stalls import Stall

WORTH_A_SENTENCE = 0.15  # of a warp's time
CONFLICTED = 1.1  # wavefronts over ideal wavefronts
NEARLY_FULL_PCT = 80.0
NARROW_SECTORS = 4.0  # a request of 32 lanes × 4 bytes; 16 bytes a lane are 16 sectors


@dataclass(frozen=True)
class Finding:
    """A sentence or two, and the columns of cards.csv that they rest on."""

    text: str
    rests_on: tuple[str, ...]


def findings(card: ProfileCard) -> list[Finding]:
    """What the card says first, most important first; empty where nothing stands out or nothing was counted."""
    return [found for rule in RULES if (found := rule(card))]


def _states(card: ProfileCard) -> list[Stall]:
    waiting = [stall for stall in card.stalls if stall.key not in ("selected", "misc")]
    return sorted(waiting, key=lambda stall: -(card.share(stall) or 0))


def limit(card: ProfileCard) -> Finding | None:
    """The state that costs most, and what else the card knows about it."""
    states = _states(card)
    if not states or (card.share(states[0]) or 0) < WORTH_A_SENTENCE:
        return None
    return _state(card, states[0])


def second(card: ProfileCard) -> Finding | None:
    """The next state, where it is large too."""
    states = _states(card)
    if len(states) < 2 or (card.share(states[1]) or 0) < WORTH_A_SENTENCE:
        return None
    return _state(card, states[1])


def _state(card: ProfileCard, stall: Stall) -> Finding:
    cycles, share = card.stalls[stall], card.share(stall) or 0.0
    said = (f"{stall.label.capitalize() if stall.label.islower() else stall.label}, {share:.0%} of a warp's time "
            f"({cycles:.1f} of {card.stall_cycles:.1f} cycles an instruction): it waits for {stall.waits_for}. ")
    why, columns = _cause(card, stall)
    return Finding(said + (why or f"What helps: {stall.helps}."), (stall.column, *columns))


def _cause(card: ProfileCard, stall: Stall) -> tuple[str, tuple[str, ...]]:
    """What other counters say about why warps are in this state, if they do."""
    degree, sectors = card.conflict_degree, card.sectors_per_request
    if stall.key in ("mio_throttle", "short_scoreboard") and degree is not None:
        columns = ("wavefronts", "ideal_wavefronts")
        if degree >= CONFLICTED:
            return (f"Bank conflicts feed it: {degree:.1f} wavefronts where 1 would do. What helps: a layout without "
                    "conflicts, by padding or a swizzle."), columns
        return f"Not bank conflicts, the conflict degree is {degree:.2f}. What helps: {stall.helps}.", columns
    if stall.key in ("long_scoreboard", "lg_throttle") and sectors is not None and sectors <= NARROW_SECTORS:
        return (f"A global load moves {32 * sectors:.0f} bytes a warp where 512 are possible. What helps: loads of "
                "16 bytes a lane, several in flight before the first use."), ("load_sectors", "load_requests")
    busy = card["tensor_pipe_pct"]
    if stall.key == "math_pipe_throttle" and busy is not None and busy >= NEARLY_FULL_PCT:
        return f"The tensor pipe is active in {busy:.0f} % of cycles: it is the limit.", ("tensor_pipe_pct",)
    return "", ()


def issue(card: ProfileCard) -> Finding | None:
    """Schedulers that issue nearly every cycle are a limit of their own."""
    busy = card["issue_slots_pct"]
    if busy is None or busy < NEARLY_FULL_PCT:
        return None
    said = f"The schedulers issue in {busy:.0f} % of cycles. What helps: fewer instructions."
    return Finding(said, ("issue_slots_pct",))


def addresses(card: ProfileCard) -> Finding | None:
    """Integer instructions beside tensor instructions: addresses that could be computed once."""
    tensor, integer = card.classes.get(TENSOR), card.classes.get(INTEGER, 0)
    if not tensor or integer < 0.25 * tensor:
        return None
    return Finding(f"{integer / tensor:.2f} integer and address instructions for each tensor instruction; they take "
                   "issue slots. What helps: addresses computed once before the loop and stepped by an addition or an "
                   "XOR.", ("executed.csv",))


def spills(card: ProfileCard) -> Finding | None:
    """Local memory means registers that did not fit."""
    count = sum(n for opcode, n in card.opcodes.items() if opcode.split(".")[0] in ("LDL", "STL"))
    if not count:
        return None
    return Finding(f"{count:,} accesses to local memory: registers that were spilled, or an array with an index known "
                   "only at run time. What helps: smaller warp tiles, unrolled loops.", ("executed.csv",))


def last_wave(card: ProfileCard) -> Finding | None:
    """Blocks that do not fill the rounds in which they run."""
    waves = card["waves"]
    rounds = -(-waves // 1) if waves else 0
    if not waves or waves / rounds > 0.8:
        return None
    idle = 1 - waves / rounds
    return Finding(f"The grid is {waves:.2f} waves of resident blocks: {idle:.0%} of the places in its {rounds:.0f} "
                   "rounds stay empty. What helps: another tile size, split K, or a persistent kernel.", ("waves",))


def memory(card: ProfileCard) -> Finding | None:
    """DRAM that is nearly full."""
    busy = card["dram_pct"]
    if busy is None or busy < NEARLY_FULL_PCT:
        return None
    return Finding(f"DRAM works at {busy:.0f} % of its peak. What helps: larger block tiles, a block order that keeps "
                   "tiles in L2.", ("dram_pct",))


RULES: tuple[Callable[[ProfileCard], Finding | None], ...] = (
    limit, second, issue, addresses, spills, last_wave, memory)

