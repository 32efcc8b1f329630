"""Answers that need a small machine are refused: too few bits for the number of blocks, too much local memory."""

from dataclasses import replace

import pytest

from gemm_lab.notebook.exercises import exercise, kernel_of
from gemm_lab_classroom.judge.machine_sizes import TILES, too_much_local_memory, wrong_with_many_blocks
from gemm_lab_classroom.skeletons import solution

PERSISTENT = ("10_multicast", "10_store", "11_accumulators", "11_release")


def answer(name: str, edit=lambda text: text):
    """The kernel with the solution of an exercise, edited, and the same compiled, as the judge does it."""
    asked = exercise(name)
    text = edit(solution(name))
    rung = kernel_of(asked, text)
    rung = replace(rung, config=rung.spec.configure(), simulated_arch=asked.criteria.get("arch"))
    return rung, rung.compile_as_taught()


@pytest.mark.parametrize("name", PERSISTENT)
def test_the_solutions_of_persistent_kernels_run_with_many_blocks(name):
    assert wrong_with_many_blocks(*answer(name)) == ""


@pytest.mark.parametrize("type_", ["signed char", "unsigned char"])
def test_blocks_that_are_counted_in_8_bits(type_):
    def narrow(text: str) -> str:
        assert "index += gridDim.x" in text
        return f"const {type_} blocks = gridDim.x;\n" + text.replace("index += gridDim.x", "index += blocks")

    found = wrong_with_many_blocks(*answer("11_accumulators", narrow))
    assert found.startswith(f"In a grid of {TILES**2} blocks") and "Deadlock" in found


def test_other_kernels_have_no_such_grid():
    assert wrong_with_many_blocks(*answer("06_swizzle")) == ""


@pytest.mark.parametrize(("words", "said"), [(8, ""), (131_000, "524,000 bytes of local memory for each thread")])
def test_local_memory_of_all_threads(words, said):
    def with_array(text: str) -> str:
        return f'uint32_t big[{words}]; big[lane % 8] = lane; asm volatile("" :: "l"(big) : "memory");\n' + text

    found = too_much_local_memory(*answer("03_fragments", with_array))
    assert (said in found and "21 GB, and there are 16" in found) if said else not found
