"""Wrong answers to 03_received. The docstring of each holds words of its refusal."""


def the_row_that_it_names(lane):
    """number 1 of the four lanes that share row 0"""
    return [(lane % 8, 0), (lane % 8, 1)]


def one_below_the_other(lane):
    """returned [(0, 0), (1, 0)]; expected [(0, 0), (0, 1)]"""
    return [(lane // 4, lane % 4 * 2), (lane // 4 + 1, lane % 4 * 2)]


def neighbours_overlap(lane):
    """expected [(0, 2), (0, 3)]"""
    return [(lane // 4, lane % 4), (lane // 4, lane % 4 + 1)]
