"""Wrong answers to 04_groups. The docstring of each holds words of its refusal."""


def one_group(width):
    """16 lanes of 8 bytes ask for 128 bytes"""
    return [list(range(32))]


def dealt_out(width):
    """16 lanes of 8 bytes ask for 128 bytes"""
    count = width // 4
    return [list(range(first, 32, count)) for first in range(count)]


def width_lanes(width):
    """32 lanes of 4 bytes ask for 128 bytes"""
    return [list(range(first, first + width)) for first in range(0, 32, width)]


def how_many(width):
    """returned 1; expected"""
    return width // 4


def quarter_warps(width):
    """expected"""
    return [list(range(first, first + 8)) for first in range(0, 32, 8)]
