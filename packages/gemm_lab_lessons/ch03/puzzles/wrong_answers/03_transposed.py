"""Wrong answers to 03_transposed. The docstring of each holds words of its refusal."""


def without_trans(lane):
    """returned [(0, 0), (0, 1)]; expected [(0, 0), (1, 0)]"""
    return [(lane // 4, lane % 4 * 2), (lane // 4, lane % 4 * 2 + 1)]


def only_the_place_exchanged(lane):
    """returned [(0, 0), (0, 1)]; expected [(0, 0), (1, 0)]"""
    return [(lane % 4 * 2, lane // 4), (lane % 4 * 2, lane // 4 + 1)]


def only_the_pair_exchanged(lane):
    """that share column 0"""
    return [(lane // 4, lane % 4 * 2), (lane // 4 + 1, lane % 4 * 2)]
