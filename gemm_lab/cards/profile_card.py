"""`k.profile()`: the card of a kernel beside that of the rung it extends, what moved, and what that suggests."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from gemm_lab.cards import html, profile_html, profile_sections
from gemm_lab.cards.instruction_mix import InstructionMix, instruction_mix, mix_section
from gemm_lab.config import data_dir
from gemm_lab.lab.here import RECORDED_ON, Here, here
from gemm_lab.measure.cards import CARD_N, ProfileCard, choose, read_cards
from gemm_lab.measure.findings import Finding, findings
from gemm_lab.measure.profile import source_hash
from gemm_lab.measure.stalls import Stall
from gpu_simulator.errors import LabError
from gpu_simulator.hardware import data_sheets as hardware

WORTH_A_WORD = 0.05  # change of a class of instructions, of all instructions before


@dataclass(frozen=True)
class Profile:
    """A kernel's card and that of the rung before; either may be None. `mix` and `mix_before` are always there.

    `note` says in a sentence why there is no card, or what to keep in mind of the one shown.
    """

    kernel: str
    before: str | None
    card: ProfileCard | None = field(repr=False)
    card_before: ProfileCard | None = field(repr=False)
    mix: InstructionMix = field(repr=False)
    mix_before: InstructionMix | None = field(repr=False)
    note: str = ""
    taught: str = ""  # the GPU that the ladder is taught on, where the card is from another one
    estimate: float | None = None  # warp instructions that the machine code of `mix` would execute at the card's size

    @property
    def cards(self) -> list[tuple[str, ProfileCard]]:
        """(name, card) of the rung before and of this one, where recorded; this one is last."""
        return [(name, card) for name, card in ((self.before, self.card_before), (self.kernel, self.card)) if card]

    @property
    def findings(self) -> list[Finding]:
        """What the card suggests, most important first, each with the counters it rests on."""
        return findings(self.card, self.mix.load_bytes) if self.card else []

    @property
    def moved(self) -> Stall | None:
        """The state whose part of a warp's time changed most since the rung before."""
        if not self.card or not self.card_before:
            return None
        before, after = profile_sections.times(self.card_before), profile_sections.times(self.card)
        return max(before.keys() & after.keys(), key=lambda stall: abs(after[stall] - before[stall]), default=None)

    @property
    def moved_class(self) -> str | None:
        """The class of instructions whose count changed most, if that is worth a word."""
        if not self.card or not self.card_before:
            return None
        old, new = self.card_before.classes, self.card.classes
        change = {name: abs(new.get(name, 0) - old.get(name, 0)) for name in {*old, *new}}
        most = max(change, key=change.__getitem__, default=None)
        return most if most and change[most] >= WORTH_A_WORD * sum(old.values()) else None

    @property
    def headline(self) -> str:
        """What moved most, as one line; empty without two cards."""
        stall, name = self.moved, self.moved_class
        if stall is None:
            return ""
        share = f"{self.card_before.share(stall):.0%} → {self.card.share(stall):.0%} of a warp's time"
        counts = f"; {name} {profile_sections.instructions(self.cards, name)}" if name else ""
        return f"{stall.label} {profile_sections.state(self.cards, stall)} cycles an instruction ({share}){counts}"

    def gauges(self) -> list[tuple[str, str]]:
        """Labelled numbers, "before → now"; what was not counted is left out."""
        return profile_sections.gauges(self.cards)

    def sections(self) -> list:
        """The bars of the card: warp states and executed instructions, or the main loop's machine code without one."""
        if self.card:
            return [profile_sections.stalls(self.cards), profile_sections.executed(self.cards)]
        mixes = [mix for mix in (self.mix_before, self.mix) if mix and mix.per_product]
        return [mix_section(mixes)] if mixes else []

    def plot(self, *others: Profile):
        """The card as a picture: where a warp's time goes, what it executes, and the gauges.

        With other profiles, their cards stand above this one instead of that of the rung before: a whole ladder.
        """
        from gemm_lab import plots

        if others:
            cards = [(shown.kernel, shown.card) for shown in (*others, self) if shown.card]
            if not cards or not self.card:
                raise LabError(
                    f"{self.kernel} and the others have no recorded cards to compare; "
                    "`instruction_mix().plot(…)` compares machine code without one."
                )
            sections = [profile_sections.stalls(cards), profile_sections.executed(cards)]
            return plots.profile_card("Profile cards", sections, [], self.conditions)
        title = self.kernel + (f", after {self.before}" if self._compared else "")
        without = f"machine code for {self.mix.arch}, counted without a GPU; it says nothing about time"
        return plots.profile_card(title, self.sections(), self.gauges(), self.conditions or without)

    @property
    def _compared(self) -> bool:
        """Whether the bars of the rung before stand beside those of this one."""
        return bool(self.card_before if self.card else self.mix_before and self.mix_before.per_product)

    @property
    def conditions(self) -> str:
        """Where the card comes from."""
        if not self.card:
            return ""
        c, n = self.card.conditions, f"{self.card.n:,}"
        on = f"on {'an' if self.taught[:1] in ('A', 'H') else 'a'} {self.taught}"  # an A100, an H100, a Tesla T4
        return (
            f"one launch under Nsight Compute {c['ncu']} at {n} × {n} × {n}, not a benchmark\n"
            f"{c['gpu']} · {c['arch']} · driver {c['driver']} · {c['date']}"
            + (f"\n{on} latencies and pipes differ, and so do the shares" if self.taught else "")
        )

    # ---- Display ----

    def __repr__(self) -> str:
        if not self.card:
            return "\n".join(filter(None, [self.note, repr(self.mix)]))
        lines = [self.kernel + (f", after {self.before}" if self._compared else "")]
        if self.headline:
            lines.append(f"moved most: {self.headline}")
        lines += ["", "where a warp's time goes                cycles an instruction"]
        for stall in sorted(self.card.stalls, key=lambda stall: -self.card.stalls[stall]):
            share = self.card.share(stall) or 0
            if share >= profile_sections.SMALL_SHARE:
                numbers = profile_sections.state(self.cards, stall)
                lines.append(f"  {stall.label:20} {'█' * round(30 * share):16} {share:4.0%}  {numbers}")
        lines += ["", "executed warp instructions"]
        for name in self.card.classes:
            lines.append(f"  {name:20} {profile_sections.instructions(self.cards, name)}")
        lines += ["", *(f"{label}: {words}" for label, words in self.gauges()), ""]
        lines += [f"* {finding.text} [{', '.join(finding.rests_on)}]" for finding in self.findings]
        return "\n".join([*lines, "", *filter(None, [self.note]), self.conditions, self._machine_code()])

    def _machine_code(self) -> str:
        about = f", about {profile_sections.count(self.estimate)} warp instructions" if self.estimate else ""
        return f"machine code for {self.mix.arch}: {self.mix.registers} registers{about}"

    def _repr_html_(self) -> str:
        head = f"<b>{escape(self.kernel)}</b>" + (f" after {escape(self.before)}" if self._compared else "")
        note = f'<div style="color:{html.WARN}">{escape(self.note)}</div>' if self.note else ""
        code = html.folded(self._machine_code(), self.mix.table())
        if not self.card:
            return html.card(head + note + "".join(map(profile_html.bars, self.sections())) + code)
        moved = f"<div>moved most: <b>{escape(self.headline)}</b></div>" if self.headline else ""
        grey = f"color:{html.MUTED};font-size:11px"
        items = "".join(
            f'<li style="margin:2px 0">{escape(found.text)} <span style="{grey}">'
            f"{escape(', '.join(found.rests_on))}</span></li>"
            for found in self.findings
        )
        says = f'<div style="margin-top:6px">What the card suggests:</div><ul style="margin:2px 0">{items}</ul>'
        foot = f'<div style="{grey};margin-top:4px">{escape(" · ".join(self.conditions.splitlines()))}</div>'
        return html.card(
            "".join(
                [
                    head,
                    moved,
                    note,
                    *map(profile_html.bars, self.sections()),
                    profile_html.gauges(self.gauges()),
                    says if items else "",
                    code,
                    foot,
                ]
            )
        )


def profile(kernel: Any, n: int | None = None, record: bool | None = None, on: str | None = None) -> Profile:
    """The profile of a `Kernel`: its recorded card at the size nearest to n (default: 4096), of GPU `on` if named.

    Where there is none and a GPU with ncu is present, both kernels are profiled now; `record=True` asks for that and
    raises a `LabError` where it cannot be done, `record=False` forbids it.
    """
    other = _before(kernel)
    arch = here().arch if _tuned_for_this_gpu(kernel) else kernel.taught_gpu().arch
    mixes = (
        instruction_mix(kernel, _arch_of(kernel, arch)),
        instruction_mix(other, _arch_of(other, arch)) if other else None,
    )
    if record and on:
        raise LabError("record=True profiles on the GPU here; leave it out to see the card of another.")
    recorded = _recorded_on(on, kernel) if on else _recorded()
    card = None if record else _card(recorded, kernel, n)
    note = _stale(kernel, card) if card else f"There is no recorded card of {kernel.label}."
    card_before = other and not record and _card(recorded, other, card.n if card else n) or None
    if record or (record is None and not card):
        try:
            card_before, card = _record_now(other, kernel, n)
            note = ""
        except LabError as error:
            if record:
                raise
            note = f"{note} {error}"
    if card is None:
        note += " Below is what the machine code shows without one."
    elif card_before and (card_before.n != card.n or card_before.conditions["gpu"] != card.conditions["gpu"]):
        card_before = None
    foreign = card and kernel.taught_gpu().key not in card.conditions["gpu"].lower().split()
    return Profile(
        kernel.label,
        other.label if other else None,
        card,
        card_before,
        *mixes,
        note,
        kernel.taught_gpu().name if foreign else "",
        _estimate(kernel, mixes[0], card),
    )


def _estimate(kernel: Any, mix: InstructionMix, card: ProfileCard | None) -> float | None:
    return mix.executed(card.n, works(kernel, card.n)) if card else None


def works(kernel: Any, n: int) -> int:
    """How often a block's code goes over a tile of D at n × n × n: the blocks of the grid, or, where those are
    persistent, the tiles that they share."""
    x, y, z = kernel.grid(n, n, n)
    if not kernel.block or not any("SMS" in extent for extent in kernel.spec.grid):
        return x * y * z
    block_m, block_n = kernel.block
    return -(-n // block_m) * -(-n // block_n)


def _before(kernel: Any) -> Any:
    """The kernel to compare with: the unedited one, else the rung that it extends, in its own configuration."""
    from gemm_lab.lab.kernel import kernel as named

    if kernel.edited:
        return kernel.unedited()
    return named(kernel.spec.extends) if kernel.spec.extends else None


def _tuned_for_this_gpu(kernel: Any) -> bool:
    """Whether its tiles are those for the GPU here, and others than the taught ones."""
    return bool(
        kernel.runs_here()
        and here().gpu
        and kernel.config == kernel.spec.configure(here().gpu.key) != kernel.spec.configure()
    )


def _arch_of(kernel: Any, arch: str) -> str | None:
    return arch if kernel.spec.written_for(arch) else None


def _recorded() -> list[ProfileCard]:
    """The cards of this GPU, and of kernels that have none those of the GPU that the course was recorded on."""
    found: list[ProfileCard] = []
    for key in dict.fromkeys([here().gpu.key, RECORDED_ON] if here().gpu else [RECORDED_ON]):
        known = [(card.kernel, card.config) for card in found]
        cards = read_cards(data_dir("results") / "profiles" / key)
        found += [card for card in cards if (card.kernel, card.config) not in known]
    return found


def _recorded_on(name: str, kernel: Any) -> list[ProfileCard]:
    """The cards of one GPU; a `LabError` where none is of this kernel in this configuration."""
    folder = data_dir("results") / "profiles"
    cards = read_cards(folder / hardware.gpu(name).key)
    if _card(cards, kernel, None):
        return cards
    there = [part.name for part in sorted(folder.iterdir()) if _card(read_cards(part), kernel, None)]
    raise LabError(
        f"No card of {kernel.label} was recorded on {hardware.gpu(name).name}; "
        f"there are cards of it from: {', '.join(there) or 'none'}."
    )


def _card(cards: Sequence[ProfileCard], kernel: Any, n: int | None) -> ProfileCard | None:
    return None if kernel.edited else choose(cards, kernel.name, kernel.config, n)


def _stale(kernel: Any, card: ProfileCard) -> str:
    if source_hash(kernel.compile(card.conditions["arch"])) == card.conditions["source"]:
        return ""
    return f"The card was recorded of an earlier text of {kernel.name}: profile it again before you rely on it."


def _record_now(other: Any, kernel: Any, n: int | None) -> tuple[ProfileCard | None, ProfileCard]:
    from gemm_lab.lab.card_recording import record_cards

    where: Here = here()
    if not where.usable:
        raise LabError(f"None can be recorded here: {where.reason}")
    if not kernel.spec.written_for(where.arch):
        raise LabError(
            f"None can be recorded here: {kernel.name} is written for {', '.join(kernel.spec.targets)}, "
            f"and this GPU is {where.arch}: it cannot run the kernel."
        )
    other = other if other and other.spec.written_for(where.arch) else None
    kernels = [made for made in (other, kernel) if made]
    with tempfile.TemporaryDirectory() as folder:
        cards = record_cards(kernels, where, Path(folder), n or CARD_N)
    return (cards[0] if other else None), cards[-1]
