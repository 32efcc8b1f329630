"""The puzzles of notebooks 06a and 06b: what fell from one profile card to the next, and the last round of tiles."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from gemm_lab.config import data_dir
from gemm_lab.notebook.puzzle import Facts, Right, register, register_law
from gemm_lab.notebook.trying import expect
from gemm_results.recorded_cards import read_cards


@register(
    "06_falls",
    title="What fell",
    task="Write falls(before, after): each is the upper part of a profile card, a dict {state: cycles an instruction}. "
    "Return the state in which the warps lost the most cycles of waiting from `before` to `after`.",
    hint="For each state, how many cycles fewer are there after? `max(before, key=…)` returns the key for which a "
    "function of it is largest.",
)
def falls(answer: Callable[[dict[str, float], dict[str, float]], str]) -> Facts:
    pairs = steps()
    for (one, two), (before, after) in pairs.items():
        state = max(before, key=lambda name: before[name] - after[name])
        why = f"These are the cards of {one} and {two}: {state} goes from {before[state]:.2f} to {after[state]:.2f}."
        expect(answer, (dict(before), dict(after)), state, why)
    return [("pairs of recorded cards", str(len(pairs)))]


@lru_cache(maxsize=1)
def steps() -> dict[tuple[str, str], tuple[dict[str, float], dict[str, float]]]:
    """{(rung, next rung): the states of their recorded cards} of the ladders t4 and ampere."""
    cards = {}
    for card in read_cards(data_dir("results") / "profiles" / "h200"):
        if card.kernel.split("/")[0] in ("t4", "ampere"):
            cards.setdefault(card.kernel, {stall.label: cycles for stall, cycles in card.stalls.items()})
    names = sorted(cards, key=lambda name: (name[:2] != "t4", name))
    pairs = [(a, b) for a, b in zip(names, names[1:], strict=False) if a.split("/")[0] == b.split("/")[0]]
    return {pair: (cards[pair[0]], cards[pair[1]]) for pair in pairs}


@register_law(
    "06_last_round",
    title="The last round",
    task="Write last_round(tiles, places): how many tiles the last round computes, if `tiles` tiles of D are computed "
    "in rounds and `places` of them fit on the GPU at the same time.",
    hint="A remainder is nearly the answer. What must come out if the last round is full?",
    cases=[(64, 40), (64, 132), (128, 132), (40, 40), (264, 132), (1024, 170), (1, 132), (133, 132), (4096, 2 * 132)],
    tried="products tried",
    facts=[("64 tiles on a T4", "24 of 40 in the last round")],
)
def last_round(tiles: int, places: int) -> Right:
    before = -(-tiles // places) - 1
    why = f"{before} full rounds of {places} stand before the last one, and all {tiles} tiles are computed."
    return tiles - before * places, why
