"""mma.sp on a GPU, with the kernels and operands that the simulator is tested with: fragments, metadata and selectors."""

from dataclasses import replace

import compiling
import numpy as np
import pytest
from sparse_products import FORMS, d_of, operands, source

import gpu_runner as device
from gpu_simulator.hardware import data_sheets as hardware

PRESENT = hardware.detect()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.available(), reason=device.why_not() or "a GPU"),
    pytest.mark.skipif(
        PRESENT is None or int(PRESENT.arch.strip("sm_af")) < 89, reason="mma.sp of FP8 begins with 8.9"
    ),
]


def d_on_gpu(form, given) -> np.ndarray:
    compiled = compiling.compile(source(form), arch=PRESENT.arch, name="kernel.cu", entry="kernel")
    compiled = replace(compiled, threads=32)
    args = [given.a, given.b, given.c, given.metadata, np.zeros_like(given.c)]
    return d_of(form, np.asarray(device.launch(compiled, grid=(1, 1, 1), args=args, timeout_s=20)[-1]).reshape(32, -1))


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_whole_numbers(form):
    given = operands(form)
    assert np.array_equal(d_on_gpu(form, given), given.want)


@pytest.mark.parametrize("form", [form for form in FORMS if form.a in ("f16", "bf16", "tf32")], ids=str)
def test_rows_of_b_that_are_not_chosen_have_no_influence(form):
    given = operands(form, unused=np.nan)
    assert np.array_equal(d_on_gpu(form, given), given.want)
