"""Video instructions with types that disagree: no recorded value says what they give, so they are refused."""

import subprocess
import sys

import numpy as np
import ptx_text
import pytest

from gpu_simulator import UnsupportedInstruction


def run(opcode):
    word = np.zeros(32, np.uint32)
    return ptx_text.run(f"mov.u32 %r2, 5; mov.u32 %r3, 7; {opcode} %r1, %r2, %r3, %r2;", word, word, word)


@pytest.mark.parametrize("types", ["s32.u32.u32", "u32.u32.s32", "u32.s32.u32", "s32.s32.u32"])
@pytest.mark.parametrize("family", ["vadd4", "vsub4", "vmin4", "vmax4", "vavrg4", "vabsdiff4"])
def test_types_that_disagree_are_refused(family, types):
    with pytest.raises(UnsupportedInstruction, match=family):
        run(f"{family}.{types}")


@pytest.mark.parametrize("opcode", ["vabsdiff4.u32.s32.s32", "vabsdiff4.s32.s32.s32.add", "vmin4.s32.s32.s32"])
def test_types_that_were_recorded_run(opcode):
    run(opcode)


def test_the_first_sum_of_a_process_is_that_of_a_kernel():
    """Generated code has no `__import__`, with which NumPy loads what its first sum needs."""
    body = "mov.u32 %r2, 5; vadd4.u32.u32.u32.add %r1, %r2, %r2, %r2;"
    script = f"import sys; sys.path[:0] = {sys.path!r}; import ptx_text; ptx_text.run({body!r}, None, None, None)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_a_distance_that_is_added_has_the_type_of_its_sources():
    with pytest.raises(UnsupportedInstruction, match="another type than its sources"):
        run("vabsdiff4.u32.s32.s32.add")
