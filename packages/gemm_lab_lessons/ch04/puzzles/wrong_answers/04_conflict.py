"""Wrong answers to 04_conflict. The docstring of each holds words of its refusal."""


def same_bank(a, b):
    """returned True; expected False. Both lanes ask for word 0"""
    return a // 4 % 32 == b // 4 % 32


def different_addresses(a, b):
    """word 1 in bank 1. Two banks can each hand out a word in the same pass."""
    return a != b


def different_addresses_of_one_bank(a, b):
    """The addresses differ, but both bytes lie in word 0, which is handed out whole."""
    return a // 4 % 32 == b // 4 % 32 and a != b


def a_line_apart(a, b):
    """a_line_apart(1, 130) returned False; expected True"""
    return a != b and (a - b) % 128 == 0


def one_row_apart(a, b):
    """one_row_apart(260, 4) returned False; expected True"""
    return abs(a - b) == 128


def a_number(a, b):
    """returned 0; expected False"""
    return 0


def by_table(a, b):
    """KeyError"""
    return {(0, 4): False, (0, 128): True, (0, 0): False, (4, 132): True, (0, 64): False}[a, b]
