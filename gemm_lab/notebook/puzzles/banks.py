"""The puzzles of notebook 04: banks, wavefronts and sectors."""

from __future__ import annotations

from collections.abc import Callable

from gemm_lab.notebook.puzzles.puzzle import Facts, register
from gemm_lab.notebook.puzzles.trying import expect_all


@register(
    "04_bank",
    title="The bank of an address",
    task="Write bank(address): the number of the bank, 0 to 31, in which the byte at this address lies.",
    hint="A bank is 4 bytes wide, so first find the number of the word. Words are dealt out to the 32 banks in turn: "
    "word 0 to bank 0, word 31 to bank 31, word 32 to bank 0 again.",
)
def bank(answer: Callable[[int], int]) -> Facts:
    addresses = [0, 4, 64, 124, 128, 132, 3, 127, 131, 4096, 4100, *range(0, 2048, 36), 48 * 1024 - 1]

    def why(address: int) -> str:
        return f"Byte {address} belongs to word {address // 4}."

    tried = expect_all(answer, [((a,), a // 4 % 32) for a in addresses], why)
    return [("addresses tried", str(tried))]
