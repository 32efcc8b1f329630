"""Wrong answers to 01_naive_traffic. The docstring of each holds words of its refusal."""


def without_the_result(n):
    """returned 16; expected 20"""
    return 2 * n**3


def one_operand(n):
    """returned 12; expected 20"""
    return n**3 + n**2


def each_once(n):
    """returned 12; expected 20"""
    return 3 * n**2


def d_every_time(n):
    """returned 24; expected 20"""
    return 3 * n**3
