"""The result of `k.profile()`: the card of a kernel beside that of the rung it extends, what changed, and why."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field, replace
from html import escape

from gemm_look import style
from gemm_look.card import card, folded, remark
from gemm_look.theme import tag
from gemm_results.cards import profile_bars, profile_sections
from gemm_results.cards.instruction_mix import InstructionMix, mix_section
from gemm_results.cards.predicted_card import Predicted
from gemm_results.findings import Finding, findings
from gemm_results.recorded_cards import ProfileCard
from gemm_results.stalls import Stall
from gpu_simulator.hardware.data_sheets import with_article

WORTH_A_WORD = 0.05  # least change of a class that is mentioned, as a share of all instructions of the rung before
LINE = 84  # characters in a line of text, so that it fits into a narrow window
NAMED = 0.05  # least share of a warp's time with which a state is in the open part of the legend


@dataclass(frozen=True)
class Profile:
    """A kernel's card and that of the rung before, each None if it was not recorded.

    predicted, predicted_before: without a recorded card, what the time model says instead; never shown beside one.
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
    predicted: Predicted | None = field(default=None, repr=False)  # what is shown if there is no recorded card
    predicted_before: Predicted | None = field(default=None, repr=False)

    @property
    def cards(self) -> list[tuple[str, ProfileCard]]:
        """(name, card) of the rung before and of this one, which is last: recorded ones, or else predicted ones."""
        recorded = [(self.before, self.card_before), (self.kernel, self.card)]
        predicted = [(self.before, self.predicted_before), (self.kernel, self.predicted)]
        pairs = recorded if self.card else [(name, one and one.card) for name, one in predicted]
        return [(name or "", card) for name, card in pairs if card]

    @property
    def _both(self) -> tuple[ProfileCard, ProfileCard] | None:
        """The card of the rung before and this one's, both recorded or both predicted; None without two."""
        found = [card for _, card in self.cards]
        return (found[0], found[1]) if len(found) == 2 else None

    @property
    def _word(self) -> str:
        """What stands before everything that is no measurement."""
        return "predicted: " if self.predicted and not self.card else ""

    @property
    def findings(self) -> list[Finding]:
        """What the card suggests, most important first, each with the counters that it is based on."""
        return findings(self.cards[-1][1], self.mix and self.mix.load_bytes) if self.cards else []

    @property
    def moved(self) -> Stall | None:
        """The state in which a warp's time changed most from the rung before; None without two cards."""
        if not self._both:
            return None
        before, after = map(profile_sections.times, self._both)
        return max(before.keys() & after.keys(), key=lambda stall: abs(after[stall] - before[stall]), default=None)

    @property
    def moved_class(self) -> str | None:
        """The class of instructions whose count changed most; None if it changed by less than WORTH_A_WORD."""
        if not self._both:
            return None
        old, new = (card.classes for card in self._both)
        change = {name: abs(new.get(name, 0) - old.get(name, 0)) for name in {*old, *new}}
        most = max(change, key=change.__getitem__, default=None)
        return most if most and change[most] >= WORTH_A_WORD * sum(old.values()) else None

    @property
    def headline(self) -> str:
        """One line with the largest changes; empty without two cards."""
        stall, name = self.moved, self.moved_class
        if stall is None or not self._both:
            return ""
        before, after = (card.share(stall) or 0 for card in self._both)
        share = f"{before:.0%} → {after:.0%} of a warp's time"
        counts = f"; {name} {profile_sections.instructions(self.cards, name)}" if name else ""
        return f"{stall.label} {profile_sections.state(self.cards, stall)} cycles an instruction ({share}){counts}"

    def gauges(self) -> list[tuple[str, str]]:
        """(label, "before → now") pairs; numbers that were not counted are left out."""
        return profile_sections.gauges(self.cards)

    @property
    def counters(self) -> dict[str, str]:
        """Executed instructions by class, and the gauges: {label: "before → now"}; empty without a card."""
        classes = self.cards[-1][1].classes if self.cards else ()
        return {name: profile_sections.instructions(self.cards, name) for name in classes} | dict(self.gauges())

    def sections(self) -> list:
        """The bars: warp states and executed instructions; without a recorded card, the main loop's machine code."""
        waits = [profile_sections.stalls(self.cards)] if self.cards else []
        if self.card:
            return [*waits, profile_sections.executed(self.cards)]
        mixes = [mix for mix in (self.mix_before, self.mix) if mix and mix.per_product]
        waits = [replace(section, title=self._word + section.title) for section in waits]
        return [*waits, mix_section(mixes)] if mixes else waits

    @property
    def _compared(self) -> bool:
        """Whether the bars of the rung before are shown too."""
        return bool(self._both if self.cards else self.mix_before and self.mix_before.per_product)

    @property
    def conditions(self) -> str:
        """The conditions of the recording, in two or three lines, or of the prediction; empty without a card."""
        if not self.card:
            return f"{self.predicted.headline}\n{self.predicted.trust}" if self.predicted else ""
        c, n = self.card.conditions, f"{self.card.n:,}"
        on = f"on {with_article(self.taught)}"
        return (
            f"one launch under Nsight Compute {c['ncu']} at {n} × {n} × {n}, not a benchmark\n"
            f"{c['gpu']} · {c['arch']} · driver {c['driver']} · {c['date']}"
            + (f"\n{on} latencies and pipes differ, and so do the shares" if self.taught else "")
        )

    # ---- Display ----

    def __repr__(self) -> str:
        if not self.cards:
            return "\n".join(filter(None, [self.note, repr(self.mix)]))
        card = self.cards[-1][1]
        lines = [self.kernel + (f", after {self.before}" if self._compared else "")]
        if self.headline:
            moved = f"{self._word}moved most: {self.headline}"
            lines += textwrap.wrap(moved, LINE, subsequent_indent="  ", break_on_hyphens=False)
        lines += ["", f"{self._word}where a warp's time goes                cycles an instruction"]
        for stall in sorted(card.stalls, key=lambda stall: -card.stalls[stall]):
            share = card.share(stall) or 0
            if share >= profile_sections.SMALL_SHARE:
                numbers = profile_sections.state(self.cards, stall)
                lines.append(f"  {stall.label:20} {'█' * round(30 * share):16} {share:4.0%}  {numbers}")
        lines += ["", "executed warp instructions"] if card.classes else []
        for name in card.classes:
            lines.append(f"  {name:20} {profile_sections.instructions(self.cards, name)}")
        lines += ["", *(f"{self._word}{label}: {words}" for label, words in self.gauges()), ""]
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
        if not self.cards:
            return card(head + note + "".join(map(profile_bars.bars, self.sections())) + code)
        waits, *others = self.sections()
        more = profile_bars.small_parts(waits, NAMED) + "".join(map(profile_bars.bars, others))
        more = folded("smaller waits, instructions and other counters", more + profile_bars.gauges(self.gauges()))
        moved = f"<div>{self._word}moved most: <b>{escape(self.headline)}</b></div>" if self.headline else ""
        foot = remark(" · ".join(self.conditions.splitlines()), "small")
        body = head + moved + note + profile_bars.bars(waits, NAMED) + self._says() + more + code + foot
        return card(body, style.SKY if self._word else "")

    def _says(self) -> str:
        """The findings as an HTML list, each with the counters that it is based on."""
        items = (
            tag("li", "list", f"{escape(found.text)} {tag('span', 'small', escape(', '.join(found.rests_on)))}")
            for found in self.findings
        )
        body = "".join(items)
        title = "What the predicted card suggests:" if self._word else "What the card suggests:"
        return tag("div", "below", title) + tag("ul", "list", body) if body else ""
