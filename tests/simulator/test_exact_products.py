"""Each instruction's kernel that was compared with a GPU, on the simulator: the same words."""

import numpy as np
import pytest

import gemm_lab as lab
import gpu_simulator
from gpu_simulator import compiler
from gpu_simulator.hardware.exact_sums import sum_rule
from tools.tensor_sums.forms import all_forms, source
from tools.tensor_sums.inputs import tiles_of
from tools.tensor_sums.words import CAPABILITY, expected, seed_of

SUMS = [341991521763, 179524868631, 692764623349, 1]  # of the words of a, b, c and zero
WORDS = {"f32": np.float32, "f16": np.uint32, "s32": np.int32}


@pytest.mark.sampled(every=7)
@pytest.mark.parametrize("form", all_forms(), ids=lambda form: form.name)
@pytest.mark.parametrize("timing", ["early", "late"])
def test_words_of_awkward_numbers(form, timing):
    tiles = max(2, 2048 // (form.m * form.n))
    inputs = tiles_of(form, seed_of(form, 9), tiles)
    compiled = compiler.compile(source(form), arch="sm_90a", name=form.name, entry=form.name)
    d = np.full_like(inputs["c"], 0x55)
    args = [
        inputs["a"].view(np.uint32),
        inputs["b"].view(np.uint32),
        inputs["c"].view(WORDS[form.out]),
        d,
        inputs["zero"],
    ]
    gpu_simulator.launch(compiled, form.name, tiles, form.threads, args, timing=timing, exact=True)
    assert np.array_equal(d, expected(form, inputs))


def test_the_same_seed_gives_the_same_bits():
    """The recorded words belong to these inputs."""
    form = next(form for form in all_forms() if form.a == "tf32")
    inputs = tiles_of(form, 5, 3)
    assert [int(inputs[name].astype(np.uint64).sum()) for name in ("a", "b", "c", "zero")] == SUMS


def test_every_form_has_a_rule_that_was_measured():
    for form in all_forms():
        rule = sum_rule(CAPABILITY, form.instruction.removesuffix("_sp"), form.a, form.b, form.out)
        assert (rule is None) if form.out == "s32" else rule.measured, form.name


def test_a_run_passes_it_on(monkeypatch):
    seen, launch = [], gpu_simulator.launch
    monkeypatch.setattr(gpu_simulator, "launch", lambda *a, **more: seen.append(more["exact"]) or launch(*a, **more))
    kernel = lab.kernel("t4/03_swizzled")
    assert all(kernel.run(128, m=256, backend="simulator", exact=exact).passed for exact in (True, False, None))
    assert seen == [True, True, False, False, None, None]
