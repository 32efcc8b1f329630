"""The result of `k.profile()`: the card of a kernel beside that of the rung it extends, what changed, and why."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape

from gemm_lab.cards import profile_bars, profile_sections
from gemm_lab.cards.card import card, folded, remark
from gemm_lab.cards.instruction_mix import InstructionMix, mix_section
from gemm_lab.cards.theme import tag
from gemm_lab.measure.cards import ProfileCard
from gemm_lab.measure.findings import Finding, findings
from gemm_lab.measure.stalls import Stall
from gpu_simulator.hardware.data_sheets import with_article

WORTH_A_WORD = 0.05  # least change of a class that is mentioned, as a share of all instructions of the rung before
LINE = 84  # characters in a line of text, so that it fits into a narrow window
NAMED = 0.05  # least share of a warp's time with which a state is in the open part of the legend


@dataclass(frozen=True)
class Profile:
    """A kernel's card and that of the rung before, each None if it was not recorded.

    mix, mix_before: their machine code, which needs no recording; None without NVIDIA's compiler. mix_before is None
    too if there is no rung before.
    note: a sentence that says why there is no card, or what to keep in mind about the one shown.
    """

    kernel: str
    before: str | None
    card: ProfileCard | None = field(repr=False)
    card_before: ProfileCard | None = field(repr=False)
    mix: InstructionMix | None = field(repr=False)
    mix_before: InstructionMix | None = field(repr=False)
    note: str = ""
    taught: str = ""  # the ladder's reference GPU, if the card is from another one
    estimate: float | None = None  # warp instructions that the machine code of `mix` would execute at the card's size

    @property
    def cards(self) -> list[tuple[str, ProfileCard]]:
        """(name, card) of the rung before and of this one, as far as they were recorded; this one is last."""
        return [(name, card) for name, card in ((self.before, self.card_before), (self.kernel, self.card)) if card]

    @property
    def findings(self) -> list[Finding]:
        """What the card suggests, most important first, each with the counters that it is based on."""
        return findings(self.card, self.mix and self.mix.load_bytes) if self.card else []

    @property
    def moved(self) -> Stall | None:
        """The state in which a warp's time changed most from the rung before; None without two cards."""
        if not self.card or not self.card_before:
            return None
        before, after = profile_sections.times(self.card_before), profile_sections.times(self.card)
        return max(before.keys() & after.keys(), key=lambda stall: abs(after[stall] - before[stall]), default=None)

    @property
    def moved_class(self) -> str | None:
        """The class of instructions whose count changed most; None if it changed by less than WORTH_A_WORD."""
        if not self.card or not self.card_before:
            return None
        old, new = self.card_before.classes, self.card.classes
        change = {name: abs(new.get(name, 0) - old.get(name, 0)) for name in {*old, *new}}
        most = max(change, key=change.__getitem__, default=None)
        return most if most and change[most] >= WORTH_A_WORD * sum(old.values()) else None

    @property
    def headline(self) -> str:
        """One line with the largest changes; empty without two cards."""
        stall, name = self.moved, self.moved_class
        if stall is None:
            return ""
        share = f"{self.card_before.share(stall):.0%} → {self.card.share(stall):.0%} of a warp's time"
        counts = f"; {name} {profile_sections.instructions(self.cards, name)}" if name else ""
        return f"{stall.label} {profile_sections.state(self.cards, stall)} cycles an instruction ({share}){counts}"

    def gauges(self) -> list[tuple[str, str]]:
        """(label, "before → now") pairs; numbers that were not counted are left out."""
        return profile_sections.gauges(self.cards)

    @property
    def counters(self) -> dict[str, str]:
        """Executed instructions by class, and the gauges: {label: "before → now"}; empty without a card."""
        classes = self.card.classes if self.card else ()
        return {name: profile_sections.instructions(self.cards, name) for name in classes} | dict(self.gauges())

    def sections(self) -> list:
        """The bars: warp states and executed instructions, or without a card the main loop's machine code."""
        if self.card:
            return [profile_sections.stalls(self.cards), profile_sections.executed(self.cards)]
        mixes = [mix for mix in (self.mix_before, self.mix) if mix and mix.per_product]
        return [mix_section(mixes)] if mixes else []

    @property
    def _compared(self) -> bool:
        """Whether the bars of the rung before are shown too."""
        return bool(self.card_before if self.card else self.mix_before and self.mix_before.per_product)

    @property
    def conditions(self) -> str:
        """The conditions of the recording, in two or three lines; empty without a card."""
        if not self.card:
            return ""
        c, n = self.card.conditions, f"{self.card.n:,}"
        on = f"on {with_article(self.taught)}"
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
            lines += textwrap.wrap(f"moved most: {self.headline}", LINE, subsequent_indent="  ", break_on_hyphens=False)
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
        for finding in self.findings:
            text = f"{finding.text} [{', '.join(finding.rests_on)}]"
            lines += textwrap.wrap(text, LINE, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join([*lines, "", *filter(None, [self.note]), self.conditions, self._machine_code()])

    def _machine_code(self) -> str:
        if self.mix is None:
            return "There is no machine code here, because NVIDIA's compiler makes it."
        about = f", about {profile_sections.count(self.estimate)} warp instructions" if self.estimate else ""
        return f"machine code for {self.mix.arch}: {self.mix.registers} registers{about}"

    def _repr_html_(self) -> str:
        head = f"<b>{escape(self.kernel)}</b>" + (f" after {escape(self.before)}" if self._compared else "")
        note = remark(self.note, "warn") if self.note else ""
        code = folded(self._machine_code(), self.mix.table()) if self.mix else remark(self._machine_code(), "small")
        if not self.card:
            return card(head + note + "".join(map(profile_bars.bars, self.sections())) + code)
        waits, *others = self.sections()
        more = profile_bars.small_parts(waits, NAMED) + "".join(map(profile_bars.bars, others))
        more = folded("smaller waits, instructions and other counters", more + profile_bars.gauges(self.gauges()))
        moved = f"<div>moved most: <b>{escape(self.headline)}</b></div>" if self.headline else ""
        foot = remark(" · ".join(self.conditions.splitlines()), "small")
        return card(head + moved + note + profile_bars.bars(waits, NAMED) + self._says() + more + code + foot)

    def _says(self) -> str:
        """The findings as an HTML list, each with the counters that it is based on."""
        items = (
            tag("li", "list", f"{escape(found.text)} {tag('span', 'small', escape(', '.join(found.rests_on)))}")
            for found in self.findings
        )
        body = "".join(items)
        return tag("div", "below", "What the card suggests:") + tag("ul", "list", body) if body else ""
