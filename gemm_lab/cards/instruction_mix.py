"""`k.instruction_mix("sm_75")`: what the machine code of a kernel consists of, on any architecture, without a GPU."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from gemm_lab.cards import html
from gemm_lab.lab.inner_loops import trips
from gpu_simulator import compiler
from gpu_simulator.compiler.instruction_classes import CLASSES, by_class
from gpu_simulator.compiler.main_loop import main_loop, opcodes
from gpu_simulator.errors import LabError


@dataclass(frozen=True)
class InstructionMix:
    """Machine instructions of a kernel by class: static counts, one for each instruction that stands in the code.

    `whole` counts the kernel's code. `loop` is one turn of its main loop, an inner loop counted as often as `trips`
    says (None: not known, counted once). One turn covers `k_step` of K; `block_k` is the k tile, where the
    configuration names one. `products` are multiply-adds that a warp has to do for each 1 of K.
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
    load_bytes: int | None = None  # a lane, of the main loop's global loads, where they are alike
    opcodes: Mapping[str, int] = field(default_factory=dict, repr=False)

    @property
    def per_k_tile(self) -> dict[str, float]:
        """Instructions of a warp for one k tile (for one turn of the loop where there is no BLOCK_K), by class."""
        turns = self.block_k / self.k_step if self.block_k and self.k_step else 1
        return {name: count * turns for name, count in self.loop.items()}

    @property
    def per_product(self) -> dict[str, float]:
        """Instructions of the main loop for each m16n8k8 of multiply-adds (1024 of them): tiles of any size compare."""
        if not self.loop_products:
            return {}
        return {name: 1024 * count / self.loop_products for name, count in self.loop.items()}

    def executed(self, k: int, blocks: int) -> float | None:
        """Warp instructions of `blocks` blocks, estimated: all code outside the loop once, the loop as often as its
        multiply-adds ask for. None where inner loops run an unknown number of times."""
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
            notes.append(f"Inner loops run {' and '.join(known)} times a turn, as the emulator counts.")
        if None in self.trips:
            notes.append("How often an inner loop runs is not known; it is counted once.")
        return notes

    def __repr__(self) -> str:
        header, rows = self._columns()
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
            for row in [header, *rows]
        ]
        return "\n".join([f"{self.kernel} for {self.arch}, {self.registers} registers", *lines, *self._notes()])

    def table(self) -> str:
        """The counts as an HTML table."""
        header, rows = self._columns()
        return html.table(header, rows, " ".join(self._notes()))

    def _repr_html_(self) -> str:
        title = f"<b>{escape(self.kernel)}</b> for {self.arch}, {self.registers} registers a thread"
        return html.card(title + self.table())

    def plot(self, *others: InstructionMix):
        """The main loop's instructions for each m16n8k8 of multiply-adds, with other mixes above it."""
        from gemm_lab import plots

        mixes = [*others, self]
        if not all(mix.per_product for mix in mixes):
            raise LabError(f"{self.kernel} has no main loop to draw; its counts are in `.whole`.")
        return plots.profile_card(
            "Instructions of the main loop", [mix_section(mixes)], [], "static counts: no GPU, no time"
        )


def instruction_mix(kernel: Any, arch: str | None = None) -> InstructionMix:
    """The mix of a `Kernel` for `arch` (default: what it compiles for here)."""
    compiled = kernel.compile(arch)
    lines = compiler.disassemble(compiled)
    loop, tile = main_loop(lines), kernel.config.get("BLOCK_K")
    multiplying = [kernel.config.get(name, 0) for name in ("NUM_WARPS_M", "NUM_WARPS_N")]  # a producer warp does not
    warps = multiplying[0] * multiplying[1] or compiled.threads // 32
    products = kernel.block[0] * kernel.block[1] / warps if kernel.block else None
    macs, step = (loop.macs if loop else 0), None
    if loop and loop.repeats:  # inner loops do the multiply-adds, several times a turn: a turn is a k tile
        macs, step = 0, tile
    elif loop and products:
        step = loop.macs / products
    turns = trips(kernel, compiled, loop, lines) if loop else []
    body: Counter = opcodes(loop.lines) if loop else Counter()
    for part, count in zip(loop.inner if loop else (), turns, strict=True):
        for opcode, copies in opcodes(part).items():
            body[opcode] += copies * ((count or 1) - 1)
    whole = opcodes(lines)
    return InstructionMix(
        kernel.label,
        compiled.arch,
        compiled.registers,
        by_class(whole),
        by_class(body),
        tuple(turns),
        step,
        tile,
        products,
        macs,
        loop.macs_elsewhere if loop else 0,
        warps,
        len(lines) - len(loop.lines) if loop else 0,
        _load_bytes(body),
        dict(whole),
    )


def _load_bytes(body: Mapping[str, float]) -> int | None:
    """The width of all LDG in `body`: "LDG.E.128.CONSTANT" is 16 bytes a lane, without a width it is 4."""

    def width(opcode: str) -> int:
        bits = re.search(r"\.[US]?(8|16|64|128|256)\b", opcode)
        return int(bits[1]) // 8 if bits else 4

    widths = {width(opcode) for opcode in body if opcode.startswith("LDG.") or opcode == "LDG"}
    return widths.pop() if len(widths) == 1 else None


def mix_section(mixes: list[InstructionMix]):
    """The part of a picture that compares main loops."""
    from gemm_lab import plots

    archs = list(dict.fromkeys(mix.arch for mix in mixes))
    names = [mix.kernel if len(archs) == 1 else f"{mix.kernel}, {mix.arch}" for mix in mixes]
    rows = [(name, mix.per_product) for name, mix in zip(names, mixes, strict=True)]
    ends = [rows[0][1], rows[-1][1]] if len(rows) > 1 else [rows[0][1]]
    said = {part: [f"{row.get(part, 0):.2f}" for row in ends] for part in CLASSES}
    numbers = {part: " → ".join(dict.fromkeys(words)) for part, words in said.items()}
    title = f"machine instructions of the main loop for each m16n8k8, {' and '.join(archs)}"
    return plots.Section(title, rows, numbers)


__all__ = ["InstructionMix", "instruction_mix", "mix_section"]
