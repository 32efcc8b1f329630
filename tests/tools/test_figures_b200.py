"""The pictures of notebook 11 show what its kernels do, and its timelines read as well as the pictures."""

import pytest
from test_figures import problems

import gemm_lab as lab
from tools.figures import cta_pairs, descriptors


def test_a_k_tile_is_four_steps_of_a_descriptor():
    assert [descriptors.step_bytes(k2) for k2 in range(4)] == [0, 32, 64, 96]
    assert sum(width for *_, width in descriptors.FIELDS) == pytest.approx(7.3)
    assert sum(bits for _, bits, *_ in descriptors.FIELDS) == 64 - 4  # two bits between fields, twice


def test_a_pair_loads_what_its_kernel_does():
    pair, alone = lab.kernel("b200/04"), lab.kernel("b200/03")
    assert [cta_pairs.stage_kib(True), cta_pairs.stage_kib(False)] == [32, 48]
    for kernel, kib in ((pair, 32), (alone, 48)):
        (a, b), names = (spec.box for _, spec in kernel.problem.tensor_maps), kernel.config
        assert (a[0] * a[1] + b[0] * b[1]) * 2 == kib * 1024, names


@pytest.mark.long
def test_timelines_read_well():
    one, two = (lab.kernel(name).timeline() for name in ("b200/01", "b200/05"))
    for shown in (one, two, one.beside(lab.kernel("b200/02").timeline()), lab.kernel("rtx5090/03").timeline()):
        assert problems(shown.plot()) == []
