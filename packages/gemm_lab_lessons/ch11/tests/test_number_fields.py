"""Sign, exponent and fraction against NumPy's and ml_dtypes' own formats."""

import numpy as np
import pytest

from gemm_lab_lessons.ch11.number_fields import fields
from gpu_simulator.errors import ConfigError

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed: pip install 'gpu_simulator[test]'")

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


@pytest.mark.parametrize("kind", TYPES)
def test_every_number_as_the_library_stores_it(kind):
    rng = np.random.default_rng(3)
    numbers = [*rng.standard_normal(200) * 10.0 ** rng.integers(-7, 4, 200), 0.0, -0.0, 257, 256.5, 255.5, 1e-6, 65519]
    for number in numbers:
        stored = np.array(number).astype(np.float32).astype(TYPES[kind]) if kind == "bf16" else TYPES[kind](number)
        found = fields(number, kind)
        width = 8 * stored.dtype.itemsize
        bits = f"{int(stored.view(f'u{stored.dtype.itemsize}')):0{width}b}"
        assert found.sign + found.exponent + found.fraction == bits and found.value == float(stored), number


def test_the_numbers_of_notebook_11():
    assert fields(257, "bf16") == ("0", "10000111", "0000000", 256.0)
    assert fields(257, "f16").value == 257 and fields(70000, "f16").value == np.inf
    assert fields(1e-6, "f16").exponent == "00000", "subnormal"
    with pytest.raises(ConfigError, match="there are f32, bf16, f16"):
        fields(1, "tf32")
