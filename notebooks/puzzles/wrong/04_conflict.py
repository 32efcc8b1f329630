"""Wrong answers to 04_conflict. The docstring of each holds words of its refusal."""


def same_bank(a, b):
    """returned True; expected False. Both lanes ask for word 0"""
    return a // 4 % 32 == b // 4 % 32


def different_words(a, b):
    """Address 0 is word 0 in bank 0, address 4 is word 1 in bank 1"""
    return a != b


def one_row_apart(a, b):
    """one_row_apart(260, 4) returned False; expected True"""
    return abs(a - b) == 128


def a_number(a, b):
    """returned 0; expected False"""
    return 0


def by_table(a, b):
    """KeyError"""
    return {(0, 4): False, (0, 128): True, (0, 0): False, (4, 132): True, (0, 64): False}[a, b]
