"""What one wgmma reads: the law, and the counts of an H200."""

import pytest

from gemm_lab_lessons.ch10.wgmma_operands import wavefronts
from gpu_simulator.errors import ConfigError


def test_the_recorded_counts():
    assert (wavefronts(128), wavefronts(256)) == (48, 80)


def test_two_narrow_products_read_a_twice():
    for columns in range(8, 129, 8):
        assert 2 * wavefronts(columns) - wavefronts(2 * columns) == 64 * 16 * 2 // 128


@pytest.mark.parametrize("columns", [0, -8, 4, 12, 264, 512])
def test_other_widths_are_refused(columns):
    with pytest.raises(ConfigError, match="8, 16, … 256 columns"):
        wavefronts(columns)
