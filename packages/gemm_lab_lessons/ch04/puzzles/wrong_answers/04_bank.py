"""Wrong answers to 04_bank. The docstring of each holds words of its refusal."""


def without_the_width(address):
    """returned 4; expected 1"""
    return address % 32


def without_the_turn(address):
    """returned 32; expected 0"""
    return address // 4


def a_float(address):
    """returned 0.75; expected 0"""
    return address / 4 % 32


def by_table(address):
    """KeyError"""
    return {4 * word: word % 32 for word in range(64)}[address]


def endless(address):
    """never end"""
    while True:
        address -= 0


def silent(address):
    """returned nothing; end it with return"""
    address // 4 % 32
