"""Wrong answers to 03_b_element. The docstring of each holds words of its refusal."""


def as_a(lane, register, half):
    """returned (0, 1); expected (1, 0)"""
    return lane // 4, lane % 4 * 2 + half


def without_the_second_register(lane, register, half):
    """returned (0, 0); expected (8, 0)"""
    return lane % 4 * 2 + half, lane // 4


def by_eight_lanes(lane, register, half):
    """of the four lanes that share column 0"""
    return lane // 8 * 2 + half + register * 8, lane % 8
