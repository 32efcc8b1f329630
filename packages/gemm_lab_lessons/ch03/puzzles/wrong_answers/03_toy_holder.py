"""Wrong answers to 03_toy_holder. The docstring of each holds words of its refusal."""


def the_row_as_register(row, col):
    """Row 2 is the second row of lane 0"""
    return row % 2 * 4 + col // 2, row, col % 2


def without_the_half(row, col):
    """returned (0, 0); expected (0, 0, 0)"""
    return row % 2 * 4 + col // 2, row // 2


def halves_exchanged(row, col):
    """the left one of its pair"""
    return row % 2 * 4 + col // 2, row // 2, 1 - col % 2


def register_by_column(row, col):
    """expected (0, 1, 0)"""
    return row % 2 * 4 + col // 2, col // 4, col % 2
