"""Wrong answers to 03_a_element. The docstring of each holds words of its refusal."""


def registers_along_k_first(lane, register, half):
    """returned (0, 8); expected (8, 0)"""
    return lane // 4 + register // 2 * 8, lane % 4 * 2 + half + register % 2 * 8


def registers_down(lane, register, half):
    """expected (0, 8)"""
    return lane // 4 + register * 8, lane % 4 * 2 + half


def pairs_down(lane, register, half):
    """returned (1, 0); expected (0, 1)"""
    return lane // 4 + half + register % 2 * 8, lane % 4 * 2 + register // 2 * 8


def one_element_a_lane(lane, register, half):
    """number 1 of the four lanes that share row 0"""
    return lane // 4 + register % 2 * 8, lane % 4 + half + register // 2 * 8
