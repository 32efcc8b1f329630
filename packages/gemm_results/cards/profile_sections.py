"""The parts of a profile card (bars, legends, gauges) for one card or several, as names and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gemm_results.cards.profile_bars import Section, short_number
from gemm_results.recorded_cards import ProfileCard
from gemm_results.stalls import STALLS, Stall
from gpu_timing.machine_code.instruction_classes import CLASSES

Cards = Sequence[tuple[str, ProfileCard]]  # (name, card), the current rung last
SMALL_SHARE = 0.01  # states with a smaller share in all cards are drawn together
GAUGES = (  # label, column or property of a card, format of the number, unit, factor
    ("tensor pipe", "tensor_pipe_pct", ".0f", " %", 1),
    ("issue slots", "issue_slots_pct", ".0f", " %", 1),
    ("conflict degree", "conflict_degree", ".3g", "", 1),
    ("registers a thread", "registers", ".0f", "", 1),
    ("occupancy", "occupancy_achieved_pct", ".0f", " %", 1),
    ("eligible warps", "eligible_warps", ".2f", "", 1),
    ("sectors a load", "sectors_per_request", ".3g", "", 1),
    ("L1 hits", "l1_hit_pct", ".0f", " %", 1),
    ("L2 hits", "l2_hit_pct", ".0f", " %", 1),
    ("L2 traffic, GB", "l2_bytes", ".2g", "", 1e-9),
    ("DRAM reads, GB", "dram_read_bytes", ".2g", "", 1e-9),
    ("waves", "waves", ".3g", "", 1),
)


def times(card: ProfileCard) -> dict[Stall, float]:
    """A warp's time in each state: cycles of the launch, or cycles per instruction if these were not counted."""
    length = card["cycles"]
    return {stall: length * (card.share(stall) or 0) if length else value for stall, value in card.stalls.items()}


def stalls(cards: Cards):
    """A `Section` of a warp's time by state.

    Bars are as long as the launch, in cycles; numbers are cycles per issued instruction.
    """
    large = [s for s in STALLS if any((card.share(s) or 0) >= SMALL_SHARE for _, card in cards)]
    rows = []
    for name, card in cards:
        spent = times(card)
        row = {stall.label: spent.get(stall, 0) for stall in large}
        row["other states"] = sum(value for stall, value in spent.items() if stall not in large)
        rows.append((name, row))
    numbers = {stall.label: state(cards, stall) for stall in large}
    rest = [sum(value for stall, value in card.stalls.items() if stall not in large) for _, card in cards]
    numbers["other states"] = arrow(rest, _cycles)
    timed = all(card["cycles"] for _, card in cards)
    title = "where a warp's time goes; numbers: cycles for each instruction that it issues"
    return Section(title, rows, numbers, " cycles" if timed else "")


def executed(cards: Cards):
    """A `Section` of the executed warp instructions by class."""
    names = {name for _, card in cards for name in card.classes}
    names = [name for name in CLASSES if name in names]
    numbers = {name: instructions(cards, name) for name in names}
    return Section("executed warp instructions", [(name, card.classes) for name, card in cards], numbers)


def gauges(cards: Cards) -> list[tuple[str, str]]:
    """(label, "before → now") pairs of GAUGES; numbers that were not counted are left out."""
    found = []
    for label, name, form, unit, factor in GAUGES:
        values = [_column(card, name) for _, card in cards]
        if values and values[-1] is not None and any(values):
            found.append((label, arrow(values, lambda v, f=form, by=factor: format(v * by, f)) + unit))
    return found


def _column(card: ProfileCard, name: str) -> float | None:
    return getattr(card, name) if hasattr(type(card), name) else card[name]


def arrow(values: Sequence[float | None], words: Callable[[float], str]) -> str:
    """The first and the last value, such as "16.1 → 1.2"; once if both look the same, a dash for a missing one."""
    ends = [values[0], values[-1]] if len(values) > 1 else values
    said = ["–" if value is None else words(value) for value in ends]
    return " → ".join(dict.fromkeys(said) if len(set(said)) == 1 else said)


def state(cards: Cards, stall: Stall) -> str:
    """Cycles per instruction in this state, such as "16.1 → 1.2"."""
    return arrow([card.stalls.get(stall) for _, card in cards], _cycles)


def instructions(cards: Cards, name: str) -> str:
    """Executed warp instructions of this class, such as "20.7 M → 4.59 M"."""
    return arrow([card.classes.get(name) for _, card in cards], count)


def _cycles(value: float) -> str:
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def count(value: float) -> str:
    """A large number with three digits, such as "33.6 M"."""
    return short_number(value)
