"""Wrong answers to 13_fails. The docstring of each holds words of its refusal."""

import math


def _exponent(x, least=-6):
    return max(math.frexp(x)[1] - 1, least) if x else least


def _add(c, x, y, bits, products=32):
    step = 2.0 ** (max(_exponent(x) + _exponent(y), _exponent(c, -126)) - bits)
    total = products * int(x * y / step) * step + int(c / step) * step
    step = 2.0 ** (_exponent(total, -126) - bits)
    return int(total / step) * step


def counts_steps(x, y, bits, most):
    """returned 518; expected 16576"""
    c, steps = 0.0, 0
    while True:
        c, steps = _add(c, x, y, bits), steps + 1
        if steps * 32 * x * y - c > most * steps * 32 * x * y:
            return steps


def the_last_k_that_is_still_right(x, y, bits, most):
    """returned 16544; expected 16576"""
    c, k = 0.0, 0
    while True:
        c, k = _add(c, x, y, bits), k + 32
        if k * x * y - c > most * k * x * y:
            return k - 32


def absolute_error(x, y, bits, most):
    """returned 16416; expected 16576"""
    c, k = 0.0, 0
    while True:
        c, k = _add(c, x, y, bits), k + 32
        if k * x * y - c > most:
            return k


def where_a_product_falls_below_the_last_bit(x, y, bits, most):
    """returned 16384; expected 16576"""
    return 2 ** (bits + 1)


def one_product_in_each_step(x, y, bits, most):
    """At K ="""
    c, k = 0.0, 0
    while True:
        c, k = _add(c, x, y, bits, 1), k + 1
        if k % 32 == 0 and k * x * y - c > most * k * x * y:
            return k
