"""Wrong answers to 13_add. The docstring of each holds words of its refusal."""

import math


def _exponent(x, least=-6):
    return max(math.frexp(x)[1] - 1, least) if x else least


def _cut(x, step):
    return int(x / step) * step


def _step(c, a, b, bits):
    exponents = [_exponent(x) + _exponent(y) for x, y in zip(a, b, strict=True) if x and y]
    return 2.0 ** (max([_exponent(c, -126), *exponents]) - bits)


def _products(a, b):
    return [x * y for x, y in zip(a, b, strict=True)]


def loses_nothing(c, a, b, bits):
    """returned 16385.0; expected 16384.0"""
    return c + sum(_products(a, b))


def cuts_only_the_sum(c, a, b, bits):
    """multiples of 2^-2 are kept of c and of each product"""
    total = c + sum(_products(a, b))
    return _cut(total, 2.0 ** (_exponent(total, -126) - bits))


def one_product_after_the_other(c, a, b, bits):
    """are kept of c and of each product"""
    for x, y in zip(a, b, strict=True):
        step = _step(c, [x], [y], bits)
        c = _cut(c, step) + _cut(x * y, step)
        c = _cut(c, 2.0 ** (_exponent(c, -126) - bits))
    return c


def rounds_down(c, a, b, bits):
    """(-16384.0, [-1.0], [1.0], 13) returned -16386.0"""
    step = _step(c, a, b, bits)
    total = sum(math.floor(x / step) * step for x in [c, *_products(a, b)])
    step = 2.0 ** (_exponent(total, -126) - bits)
    return math.floor(total / step) * step


def exponents_of_the_products_themselves(c, a, b, bits):
    """The largest exponent is 0"""
    step = 2.0 ** (max(_exponent(x, -126) for x in [c, *_products(a, b)]) - bits)
    total = _cut(c, step) + sum(_cut(x, step) for x in _products(a, b))
    return _cut(total, 2.0 ** (_exponent(total, -126) - bits))


def the_accumulator_is_not_aligned(c, a, b, bits):
    """The largest exponent is 14"""
    step = _step(0, a, b, bits)
    total = c + sum(_cut(x, step) for x in _products(a, b))
    return _cut(total, 2.0 ** (_exponent(total, -126) - bits + 1))


def the_sum_keeps_all_its_bits(c, a, b, bits):
    """(0.0, [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], 0) returned 3.0; expected 2.0"""
    step = _step(c, a, b, bits)
    return _cut(c, step) + sum(_cut(x, step) for x in _products(a, b))


def a_zero_has_the_exponent_of_its_factors(c, a, b, bits):
    """(0.000244140625, [0.0], [448.0], 13) returned 0.0; expected 0.000244140625"""
    top = max(_exponent(c, -126), *(_exponent(x) + _exponent(y) for x, y in zip(a, b, strict=True)))
    step = 2.0 ** (top - bits)
    total = _cut(c, step) + sum(_cut(x, step) for x in _products(a, b))
    return _cut(total, 2.0 ** (_exponent(total, -126) - bits))
