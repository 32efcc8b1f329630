"""The result of `k.instruction_mix("sm_75")`: a kernel's machine instructions by class. It needs no GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from gemm_look.card import card
from gemm_look.table import Table
from gpu_timing.machine_code.instruction_classes import CLASSES


@dataclass(frozen=True)
class InstructionMix:
    """Machine instructions of a kernel by class: static counts, that is, each instruction of the code counts once.

    whole: the kernel's code.   loop: one iteration of its main loop; an inner loop counts as many times as `trips` says
    (None: not known, counted once).   k_step: the part of K that an iteration covers.   block_k: the k tile, if the
    configuration has one.   products: multiply-adds of a warp per unit of K.   loop_products: those in one iteration.
    elsewhere_products: those outside the loop.   warps: in a block.   outside: instructions outside the loop.
    """

    kernel: str
    arch: str
    registers: int
    whole: Mapping[str, int]
    loop: Mapping[str, float]
    trips: tuple[float | None, ...]
    k_step: float | None
    block_k: int | None
    products: float | None = None
    loop_products: int = 0
    elsewhere_products: int = 0
    warps: int = 0
    outside: int = 0
    load_bytes: int | None = None  # bytes per lane of the main loop's global loads, if all have the same width
    opcodes: Mapping[str, int] = field(default_factory=dict, repr=False)

    @property
    def per_k_tile(self) -> dict[str, float]:
        """Instructions of a warp by class, for one k tile, or for one iteration of the loop if there is no BLOCK_K."""
        turns = self.block_k / self.k_step if self.block_k and self.k_step else 1
        return {name: count * turns for name, count in self.loop.items()}

    @property
    def per_product(self) -> dict[str, float]:
        """Instructions of the main loop per 1024 multiply-adds (one m16n8k8), so that tiles of any size compare.

        Empty if no main loop was found.
        """
        if not self.loop_products:
            return {}
        return {name: 1024 * count / self.loop_products for name, count in self.loop.items()}

    def executed(self, k: int, blocks: int) -> float | None:
        """An estimate of the warp instructions that `blocks` blocks execute for this K.

        Code outside the main loop counts once, and the loop as often as the number of multiply-adds requires. None if
        no main loop was found or an inner loop runs an unknown number of times.
        """
        if not self.products or not self.loop_products or None in self.trips:
            return None
        turns = (self.products * k - self.elsewhere_products) / self.loop_products
        return self.warps * blocks * (self.outside + turns * sum(self.loop.values()))

    def _columns(self) -> tuple[list[str], list[list[str]]]:
        tile = f"a k tile of {self.block_k}" if self.block_k and self.k_step else "a turn of the loop"
        header = ["instructions", "whole kernel", "main loop", tile, "per m16n8k8"]
        names = [name for name in CLASSES if name in self.whole]
        sums = [
            (
                "all",
                sum(self.whole.values()),
                sum(self.loop.values()),
                sum(self.per_k_tile.values()),
                sum(self.per_product.values()),
            )
        ]
        rows = [
            (
                name,
                self.whole[name],
                self.loop.get(name, 0),
                self.per_k_tile.get(name, 0),
                self.per_product.get(name, 0),
            )
            for name in names
        ] + sums
        if not self.loop:
            return header[:2], [[name, str(whole)] for name, whole, *_ in rows]
        return header, [
            [name, str(whole), f"{loop:.5g}", f"{tile:.5g}", f"{product:.3g}"]
            for name, whole, loop, tile, product in rows
        ]

    def _notes(self) -> list[str]:
        if not self.loop:
            return ["No loop with multiply-adds was recognised, so only the whole kernel is counted."]
        step = f"One turn of the main loop covers {self.k_step:g} of K. " if self.k_step else ""
        notes = [f"{step}Static counts of {self.arch} code: no GPU was needed, and none says how long they take."]
        known = [f"{count:.4g}" for count in self.trips if count is not None]
        if known:
            notes.append(f"Inner loops run {' and '.join(known)} times a turn, as the simulator counts.")
        if None in self.trips:
            notes.append("How often an inner loop runs is not known; it is counted once.")
        return notes

    def _table(self) -> Table:
        return Table(*self._columns(), " ".join(self._notes()))

    def __repr__(self) -> str:
        head = f"{self.kernel} for {self.arch}, {self.registers} registers"
        return "\n".join([head, *self._table().lines(), *self._notes()])

    def table(self) -> str:
        """The counts as an HTML table."""
        return self._table().html()

    def _repr_html_(self) -> str:
        title = f"<b>{escape(self.kernel)}</b> for {self.arch}, {self.registers} registers a thread"
        return card(title + self.table())


def mix_section(mixes: list[InstructionMix]):
    """A `Section` that compares the main loops of several mixes; the last is the current kernel's."""
    from gemm_results.cards.profile_bars import Section

    archs = list(dict.fromkeys(mix.arch for mix in mixes))
    names = [mix.kernel if len(archs) == 1 else f"{mix.kernel}, {mix.arch}" for mix in mixes]
    rows = [(name, mix.per_product) for name, mix in zip(names, mixes, strict=True)]
    ends = [rows[0][1], rows[-1][1]] if len(rows) > 1 else [rows[0][1]]
    said = {part: [f"{row.get(part, 0):.2f}" for row in ends] for part in CLASSES}
    numbers = {part: " → ".join(dict.fromkeys(words)) for part, words in said.items()}
    title = f"machine instructions of the main loop for each m16n8k8, {' and '.join(archs)}"
    return Section(title, rows, numbers)


__all__ = ["InstructionMix", "mix_section"]
