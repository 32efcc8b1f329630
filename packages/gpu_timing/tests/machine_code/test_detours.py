"""Blocks of a loop that stand elsewhere in the machine code."""

from gpu_simulator.compiler.disassembly import SassLine
from gpu_timing.machine_code.detours import with_detours
from gpu_timing.machine_code.main_loop import product_loops


def code(*texts):
    """Lines of addresses 0, 1, 2, …; "BRA 7" names the address that it goes to, after a condition or without one."""
    lines = []
    for address, text in enumerate(texts):
        target = int(text.rsplit(" ", 1)[1]) if "BRA" in text else None
        lines.append(
            SassLine(address, text.replace("BRA ", "BRA `(") + (")" if "BRA" in text else ""), "", 0, None, target)
        )
    return lines


def loop_of(lines, first, last):
    return [line.address for line in with_detours(lines[first : last + 1], lines)]


def test_a_block_before_the_loop_that_comes_back_into_it_belongs_to_it():
    lines = code("MOV", "BRA 5", "DEPBAR.LE SB0, 0x1", "BAR", "BRA 7", "FFMA", "@P0 BRA 2", "FFMA", "@P1 BRA 5", "EXIT")
    assert loop_of(lines, 5, 8) == [5, 6, 2, 3, 4, 7, 8]


def test_a_block_behind_the_loop_belongs_to_it_and_what_ends_the_kernel_does_not():
    lines = code("FFMA", "@P0 BRA 5", "FADD", "@P1 BRA 0", "EXIT", "BAR", "@P2 BRA 4", "MOV", "BRA 2")
    assert loop_of(lines, 0, 3) == [0, 1, 5, 6, 7, 8, 2, 3]


def test_a_loop_around_it_is_no_detour():
    lines = code("MOV", "FFMA", "@P0 BRA 1", "STG", "@P1 BRA 0", "EXIT")
    assert loop_of(lines, 1, 2) == [1, 2]


def test_loops_that_multiply_have_detours_only_where_they_are_asked_for():
    lines = code(
        "BRA 3",
        "DEPBAR.LE SB0, 0x1",
        "BRA 5",
        "FFMA R1, R2, R3, R1",
        "@P0 BRA 1",
        "FFMA R1, R2, R3, R1",
        "@P1 BRA 3",
        "EXIT",
    )
    assert [len(loop) for loop in product_loops(lines)][-1:] == [4]
    assert 1 in [line.address for line in product_loops(lines, detours=True)[-1]]
