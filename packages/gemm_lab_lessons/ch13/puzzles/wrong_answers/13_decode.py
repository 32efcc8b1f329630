"""Wrong answers to 13_decode. The docstring of each holds words of its refusal."""

import math


def _parts(byte):
    return -1 if byte >> 7 else 1, byte >> 3 & 15, byte & 7


def like_an_ieee_format_with_infinities(byte):
    """decode(0b01111110) returned inf; expected 448"""
    sign, e, f = _parts(byte)
    if e == 15:
        return math.nan if f == 7 else sign * math.inf
    return sign * (1 + f / 8) * 2.0 ** (e - 7) if e else sign * f / 8 * 2.0**-6


def no_subnormal_numbers(byte):
    """expected 0.0136719"""
    sign, e, f = _parts(byte)
    return math.nan if e == 15 and f == 7 else sign * (1 + f / 8) * 2.0 ** (e - 7)


def bias_of_eight(byte):
    """returned 0.5; expected 1"""
    sign, e, f = _parts(byte)
    return sign * (1 + f / 8) * 2.0 ** (e - 8)


def no_sign(byte):
    """The sign is 1"""
    _, e, f = _parts(byte)
    if e == 15 and f == 7:
        return math.nan
    return (1 + f / 8) * 2.0 ** (e - 7) if e else f / 8 * 2.0**-6


def every_pattern_is_a_number(byte):
    """expected nan"""
    sign, e, f = _parts(byte)
    return sign * (1 + f / 8) * 2.0 ** (e - 7) if e else sign * f / 8 * 2.0**-6
