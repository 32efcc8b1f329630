"""Sums that cancel are checked at one block tile. A kernel that works at its own size only passes there, and says so."""

import pytest

import gemm_lab as lab

AT_ONE_TILE = {"faults": "if (K == 64) gmem_a += 1LL << 50;", "is wrong": "if (K == 64) acc = 1.0f;"}


def run(line="", product="+ col];\n  // end"):
    kernel = lab.kernel("simt/01")
    source = kernel.source.replace("  for (int k", f"  {line}\n  for (int k").replace("+ col];\n  // end", product)
    return kernel.rewrite("#include <cuda_fp16.h>\n" + source).run(256, k=48, timed=False)


@pytest.mark.parametrize("how", AT_ONE_TILE)
def test_a_kernel_for_one_size_passes_there_and_says_what_one_block_tile_does(how):
    found = run(AT_ONE_TILE[how])
    says = "past the end of gmem_d" if how == "faults" else "1,024 of 1,024 elements are wrong"
    assert found.passed and "one block tile alone, 32 × 32 × 64, does not work: " in found.message
    assert says in found.message and "exchanged" not in found.message


def test_a_kernel_for_every_size_says_nothing_of_it_and_a_wrong_one_is_not_excused():
    assert run().passed and "block tile" not in run().message
    wrong = run("acc = 1.0f;")
    assert not wrong.passed and "block tile" not in wrong.message
    short = run(product="+ col], acc = __half2float(__float2half(acc));\n  // end")
    assert not short.passed and short.message.startswith("Small integers give the exact result. At 32 × 32 × 64: ")
