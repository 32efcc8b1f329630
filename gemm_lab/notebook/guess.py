"""`lab.guess(…)`: asks the learner to guess a result beforehand, and later says how close the guess was.

A question has an exact answer, of which only the very number is right, or asks for an estimate, which is right within a
factor. The reader sees beside the box which of the two it is. The answers are kept in predictions.json in the state
folder, so they are still there after a restart of the notebook.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import numbers
import re
import sys
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np

from gemm_lab.courses import entries, one_of
from gemm_lab.notebook.remembered.kept import Kept
from gemm_lab.notebook.widgets.asleep import live, show_beside
from gemm_look import theme
from gemm_look.card import card, folded, mark
from gpu_simulator.argument_checks import checked, shown
from gpu_simulator.errors import ConfigError

_NAME = re.compile(r"\d\d_\w+$")
FACTOR = 1.1  # an estimate is right within this factor, if the question names no other
NEAR = 1.5  # a wrong estimate within this factor is called near, if the question does not forbid it


class Guess:
    """A question to the learner. `value` is the answer, or None if there is none yet.

    The answer is a number, in `unit`, or one of `choices` if there are any. exact: only the very number is right; False
    for an estimate, which is right within `factor`; None if the true value decides: a whole number is exact. near:
    False if no wrong estimate is to be called near, because one that is not far off comes from a misconception. `first`
    is the answer of the first comparison, for when the reader changes it afterwards.
    """

    def __init__(
        self,
        question: str,
        unit: str = "",
        choices: tuple[str, ...] | list[str] = (),
        hint: str = "",
        why: str = "",
        answer: float | str | None = None,
        exact: bool | None = None,
        factor: float | None = None,
        near: bool = True,
    ):
        if not isinstance(choices, (list, tuple, dict)):
            raise ConfigError(f'choices is a list of texts, such as ["exact", "wrong"], not {shown(choices)}.')
        self.question, self.unit, self.choices = question, unit, tuple(str(choice) for choice in choices)
        self.hint, self.why, self.known = hint, why, answer
        self.exact, self.factor = False if factor and exact is None else exact, factor or FACTOR
        self.may_be_near = near
        self.key = hashlib.sha256(question.encode()).hexdigest()[:16]
        self._first_key = f"{self.key} first"
        stored = _kept.load()
        self.value, self.first = self._valid(stored.get(self.key)), self._valid(stored.get(self._first_key))
        self.comparison: Comparison | None = None

    def _valid(self, stored: Any) -> float | str | None:
        """A stored answer, or None if it is not a valid answer to this question."""
        if self.choices:
            return stored if stored in self.choices else None
        number = isinstance(stored, (int, float)) and not isinstance(stored, bool) and math.isfinite(stored)
        return float(stored) if number else None

    def answer(self, value: float | str | None) -> Guess:
        """Store an answer: a number, or one of the choices; None deletes it. The answer box and cells can call this.

        Raises `ConfigError` for anything else.
        """
        if self.choices and value is not None:
            if str(value) not in self.choices:
                raise ConfigError(f"{shown(value)} is not one of the choices: {', '.join(self.choices)}.")
            value = str(value)
        if not self.choices and value is not None:
            try:
                value = float(value)
            except (TypeError, ValueError):
                value = math.nan
            if not math.isfinite(value):
                raise ConfigError("A guess is a number, such as 4 or 2.5.")
        self.value = value
        _store(self.key, value)
        if self.comparison is not None:
            self._keep_first()
        return self

    def _keep_first(self) -> None:
        """Keep the answer that is compared for the first time."""
        if self.first is None and self.value is not None:
            self.first = self.value
            _store(self._first_key, self.first)

    def compare(self, truth: float | str | None = None, why: str = "") -> Comparison:
        """Compare the answer with `truth`, which was counted or measured; raises `ConfigError` for a wrong type.

        truth: may be left out if questions.toml has the answer. why: an explanation, shown with the answer; by default
        that of questions.toml. Without a guess both are folded, and they stay so in a stored notebook. A
        guess that is typed in later shows them beside the box at once.
        """
        truth = self.known if truth is None else truth
        if truth is None:
            raise ConfigError(f"“{self.question}” has no stored answer: give compare the value that you measured.")
        if self.choices:
            truth = str(truth)
        elif isinstance(truth, str) or np.ndim(truth) or not isinstance(truth, (numbers.Real, np.ndarray)):
            raise ConfigError(f"“{self.question}” is compared with a number, not with {shown(truth)}.")
        self.comparison = Comparison(self, truth, why or self.why)
        self._keep_first()
        return self.comparison

    @property
    def rule(self) -> str:
        """Which numbers count as right, for the reader; "" for choices."""
        if self.choices:
            return ""
        if self.exact is None:
            return f"right {self.tolerance}; a count, only exactly"
        return "only the exact number is right" if self.exact else f"right {self.tolerance}"

    @property
    def tolerance(self) -> str:
        """How far from the truth an estimate may be: "within 10 %", "within a factor of 2"."""
        return f"within {100 * (self.factor - 1):.2g} %" if self.factor < 2 else f"within a factor of {self.factor:g}"

    # ---- Display ----

    def _widget(self):
        import ipywidgets as widgets

        if self.choices:
            box = widgets.ToggleButtons(options=self.choices, value=self.value, style={"button_width": "auto"})
        else:
            shown = "" if self.value is None else f"{self.value:g}"
            box = widgets.Text(
                value=shown, placeholder="your answer", continuous_update=False, layout=widgets.Layout(width="130px")
            )
        note = widgets.HTML(self._note())

        def changed(change) -> None:
            try:
                self.answer(change["new"] or None)
                note.value = self._note()
            except ConfigError as error:
                note.value = theme.tag("span", "bad", escape(str(error)))

        box.observe(changed, names="value")
        words = f"{escape(self.unit)} {theme.tag('span', 'muted', f'({self.rule})')}"
        rule = theme.tag("span", "whole", words)
        row = [box, note] if self.choices else [box, widgets.HTML(rule), note]
        line = widgets.HBox(row, layout=widgets.Layout(flex_flow="row wrap"))  # a long note goes below the box
        hint = [widgets.HTML(folded("hint", escape(self.hint)))] if self.hint else []
        return widgets.VBox([line, *hint])

    def _note(self) -> str:
        if self.value is None:
            return ""
        if self.comparison is not None:
            return escape(repr(self.comparison))
        return theme.tag("span", "muted", f"stored: {escape(self._text(self.value))}")

    def _text(self, value: float | str) -> str:
        if self.choices:
            return f"“{value}”"
        number = f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"
        return f"{number} {self._unit_behind(value)}".strip()

    def _unit_behind(self, value: float) -> str:
        """The unit to write after a number: without the remark in brackets, and in the singular for 1."""
        unit = self.unit.split("(")[0].strip()
        return re.sub(r"\b([a-z]*[^\Ws])s\b", r"\1", unit, count=1) if value == 1 else unit

    def __repr__(self) -> str:
        stored = "no answer yet" if self.value is None else f"your answer: {self._text(self.value)}"
        return f"Predict. {self.question} ({stored})"

    def _repr_html_(self) -> str:
        return f"<div>{self._asked()}{self._still()}</div>"

    def _asked(self) -> str:
        return f"<b>Predict.</b> {escape(self.question)}"

    def _still(self) -> str:
        """A picture of the answer box, which says that it is one."""
        words = " / ".join(self.choices) or "your answer"
        box = theme.tag("kbd", "blank", escape(words)) + f" {escape(self.unit)}"
        rule = f" ({self.rule})" if self.rule else ""
        box += theme.tag("span", "muted", f"{rule} This is a picture of the box: run the cell to answer.")
        return f"<div>{box}{folded('hint', escape(self.hint)) if self.hint else ''}</div>"

    def _ipython_display_(self) -> None:
        bundle = {"text/plain": repr(self), "text/html": self._repr_html_()}
        with contextlib.suppress(Exception):  # without a widget front end, the question is shown as text
            if view := live(self._widget()):
                bundle = {**view, "text/plain": "[answer box]", "text/html": self._still()}
        show_beside(bundle, repr(self), self._asked())


class Comparison:
    """A guess compared with the true value, and the reason for it."""

    def __init__(self, guess: Guess, truth: float | str, why: str = ""):
        self.guess, self.truth, self.why = guess, truth, why

    @property
    def exact(self) -> bool:
        """Whether only the very number is right."""
        if self.guess.choices or self.guess.exact is not None:
            return bool(self.guess.choices or self.guess.exact)
        return isinstance(self.truth, numbers.Integral)

    @property
    def close(self) -> bool | None:
        """True for a right answer, False for a wrong one, None without an answer."""
        value = self.guess.value
        if value is None:
            return None
        if self.guess.choices:
            return value == self.truth
        if self.exact:  # a truth that was computed may be off in its last bits
            return math.isclose(value, self.truth, rel_tol=1e-9)
        return self._within(self.guess.factor)

    @property
    def near(self) -> bool:
        """Whether an estimate is wrong and not far from the truth. Where only one number is right, none is near it."""
        p = self.guess
        if self.close or self.exact or p.value is None or not p.may_be_near:
            return False
        return self._within(max(NEAR, 1.5 * p.factor))

    def _within(self, factor: float) -> bool:
        """Whether the answer is at most `factor` times the truth, or below 2 at most that share away from it."""
        value, truth = self.guess.value, self.truth
        if value * truth <= 0:
            return value == truth
        times = value / truth
        return abs(times - 1) <= factor - 1 + 1e-9 if factor < 2 else 1 / factor <= times <= factor

    def __repr__(self) -> str:
        if self.guess.value is None:
            return f"Predict first: “{self.guess.question}” The answer is then shown here."
        return " ".join(filter(None, [self._verdict(), self.why]))

    def _verdict(self) -> str:
        p, truth = self.guess, self.guess._text(self.truth)
        assert p.value is not None
        changed = p.first is not None and p.first != p.value
        said = f"{'Now you say' if changed else 'You said'} {p._text(p.value)}. It is {truth}"
        before = f" Your first answer was {p._text(p.first)}." if changed else ""
        return f"{said}{self._distance()}.{before}"

    def _distance(self) -> str:
        """What stands behind the truth: ": right", how far the answer is from it, or nothing."""
        p = self.guess
        if self.close:
            return ": right" if self.exact else f": right {p.tolerance}"
        if p.choices or p.value == 0 or self.truth == 0:
            return ""
        if p.value * self.truth < 0:
            return ": only the sign is wrong" if p.value == -self.truth else ": the sign is wrong"
        times = p.value / self.truth
        if self.exact and abs(times - 1) < 0.3:
            return ": only the exact number is right"
        by = f"{100 * abs(times - 1):.0f} % too {'much' if times > 1 else 'little'}"
        by = by if abs(times - 1) < 0.3 else f"{times:.2g} times the truth"
        if self.near:
            return f": near ({by}; right would be {p.tolerance})"
        return f"; your answer was {by}" if p._unit_behind(self.truth) or not p.unit else ""  # not for a place

    def _repr_html_(self) -> str:
        why = f" {escape(self.why)}" if self.why else ""
        if self.guess.value is None:  # the answer is folded, so that a reader can still guess
            answer = f"It is {escape(self.guess._text(self.truth))}.{why}"
            return card(folded("The answer, for when you have predicted it", answer), theme.NOTE)
        sign = "≈" if self.near else mark(bool(self.close))
        return card(f"{sign} {escape(self._verdict())}{why}", theme.GOOD if self.close else theme.CLOSE)


@checked
def guess(
    question: str,
    unit: str = "",
    choices: tuple[str, ...] | list[str] = (),
    hint: str = "",
    exact: bool | None = None,
) -> Guess:
    """Ask the learner a question. Returns the `Guess`; `guess.compare(truth)` shows how close it was.

    question: its text, or the name of a question of questions.toml, such as "00_loop". There, hint and
    explanation are out of sight of somebody who reads the cell. unit: of a numeric answer. choices: the possible
    answers, if it is not a number. hint: is shown folded. exact: True if only the very number is right, False for an
    estimate; by default a true value that is a whole number is exact. Raises `LabError` for a name that does not exist.
    """
    if not _NAME.match(question):
        return Guess(question, unit, choices, hint, exact=exact)
    return Guess(**one_of(questions(), "question", question))


predict = guess  # its name in earlier notebooks, which answers for one release


@lru_cache(maxsize=1)
def questions() -> dict[str, dict[str, Any]]:
    """The questions of every questions.toml by name. Raises `ConfigError` for a bad entry.

    Each has `choices`, or `exact = true`, or the `factor` within which an estimate is right, and with it perhaps
    `near = false`.
    """
    found = {name: entry for name, (_, entry) in entries("questions.toml").items()}
    kinds = {"choices", "exact", "factor"}
    for name, entry in found.items():
        if "question" not in entry or set(entry) - kinds - {"question", "unit", "hint", "why", "answer", "near"}:
            raise ConfigError(f"questions.toml, {name}: needs question, and may have unit, hint, why, answer.")
        if len(kinds & set(entry)) != 1 or entry.get("exact", True) is not True or entry.get("factor", 2) <= 1:
            raise ConfigError(f"questions.toml, {name}: needs choices, or exact = true, or a factor above 1.")
        if entry.get("near", False) is not False or "near" in entry and "factor" not in entry:
            raise ConfigError(f"questions.toml, {name}: near = false belongs to a factor, and nothing else to near.")
    return found


_kept = Kept("predictions.json")


def _store(key: str, value: Any) -> None:
    warned = bool(_kept.problem)
    _kept.store(key, value)
    if _kept.problem and not warned:
        print(f"Your answers cannot be saved and are lost when this session ends: {_kept.problem}", file=sys.stderr)
