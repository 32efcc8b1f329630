"""Chooses, of the recorded words, a few that refuse a rule with one number changed, for the simulator's tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from gpu_simulator.hardware.exact_sums import SumRule
from tools.tensor_sums.forms import Form, all_forms
from tools.tensor_sums.inputs import tiles_of
from tools.tensor_sums.words import OUTPUTS, expected, rule_of, seed_of

OF_EACH = 4  # words that refuse one change of the rule
OTHERS = 6  # words at random


def changes(rule: SumRule) -> list[SumRule]:
    """The rule with one of its numbers changed."""
    found = [replace(rule, fraction=rule.fraction + by) for by in (-1, 1)]
    found += [replace(rule, products=rule.products // 2), replace(rule, result=rule.result - 1)]
    found += [replace(rule, late=not rule.late)]
    return found + [replace(rule, floor=rule.floor + by) for by in (-1, 1) if rule.floor is not None]


def chosen(form: Form, inputs: dict[str, np.ndarray], words: np.ndarray) -> np.ndarray:
    """(cases, 3) tile, row and column of the words that are kept."""
    rng = np.random.default_rng(0)
    rule = rule_of(form)
    wrong = [np.argwhere(expected(form, inputs, change) != words) for change in changes(rule)]
    places = [rng.permutation(where)[:OF_EACH] for where in wrong]
    return np.unique(np.concatenate([*places, rng.integers(0, words.shape, (OTHERS, 3))]), axis=0)


def sample(folder: Path, file: Path) -> None:
    """Write the chosen words of FOLDER/words*.npz, with their rows, columns and accumulators."""
    recorded: dict[str, np.ndarray] = {}
    for part in sorted(folder.glob("words*.npz")):
        recorded |= dict(np.load(part))
    found: dict[str, np.ndarray] = {}
    for form in all_forms():
        name = f"{form.instruction} {form.out} {form.a} {form.b} {form.stored}"
        if form.out == "s32" or f"{name} d" in found:
            continue
        inputs, words = tiles_of(form, seed_of(form, 0), OUTPUTS // (form.m * form.n)), recorded[form.name]
        tile, row, column = chosen(form, inputs, words).T
        found[f"{name} a"] = inputs["a"][tile, row]
        found[f"{name} b"] = inputs["b"][tile, column][:, form.chosen]
        found[f"{name} c"] = np.where(inputs["zero"][tile] == 1, 0, inputs["c"][tile, row, column]).astype(words.dtype)
        found[f"{name} d"] = words[tile, row, column]
    np.savez_compressed(file, **found)
