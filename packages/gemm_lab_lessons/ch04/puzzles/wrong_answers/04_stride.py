"""Wrong answers to 04_stride. The docstring of each holds words of its refusal."""

from math import gcd as _gcd


def forgets_the_same_word(stride, banks):
    """returned 32; expected 1. All lanes ask for word 0"""
    return _gcd(stride, banks)


def remainder(stride, banks):
    """remainder(3, 32) returned 3; expected 1"""
    return max(1, stride % banks)


def even_or_odd(stride, banks):
    """returned 2; expected 4"""
    return 2 if stride % 2 == 0 else 1


def always_32(stride, banks):
    """expected 4"""
    return _gcd(stride, 32) if stride else 1


def a_quotient(stride, banks):
    """expected 1. Lane 1 asks bank 3"""
    return max(1, banks // stride if stride > 2 else stride)


def by_table(stride, banks):
    """expected"""
    return {2: 2, 4: 4, 6: 2, 8: 8, 10: 2, 12: 4, 14: 2, 16: 16, 20: 4, 24: 8, 28: 4, 32: 32}.get(stride, 1)
