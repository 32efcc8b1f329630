"""The words of a form's results by the rule, and the seeds of its inputs."""

from __future__ import annotations

import hashlib

import numpy as np

from gpu_simulator.hardware.exact_sums import SumRule, exact_sum, sum_rule
from tools.tensor_sums.forms import Form
from tools.tensor_sums.inputs import values

CAPABILITY = 90
OUTPUTS = 1 << 17  # of a form in one round


def seed_of(form: Form, turn: int) -> int:
    """The seed of a form's inputs in a round."""
    return int.from_bytes(hashlib.sha256(f"{form.name} {turn}".encode()).digest()[:6], "little")


def rule_of(form: Form) -> SumRule | None:
    """The rule of a form; None for integers."""
    return sum_rule(CAPABILITY, form.instruction.removesuffix("_sp"), form.a, form.b, form.out)


def expected(form: Form, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """The words of D as the kernel writes them, by the form's rule."""
    zero = inputs["zero"].astype(bool)[:, None, None]
    if form.out == "s32":
        left, right = (inputs[name].view(np.int8).astype(np.int64) for name in "ab")
        before = np.where(zero, 0, inputs["c"].view(np.int32).astype(np.int64))
        return (np.matmul(left, right.swapaxes(1, 2)) + before).astype(np.uint32)
    with np.errstate(invalid="ignore"):  # of NaN that signal
        c = inputs["c"].view(np.float16 if form.out == "f16" else np.float32).astype(np.float32)
        right = values(inputs["b"], form.b).swapaxes(1, 2)[:, form.chosen]
        out = exact_sum(values(inputs["a"], form.a), right, np.where(zero, np.float32(0), c), rule_of(form))
    if form.out == "f32":
        return np.ascontiguousarray(out).view(np.uint32)
    return np.where(np.isnan(out), np.uint16(0x7FFF), out.astype(np.float16).view(np.uint16))
