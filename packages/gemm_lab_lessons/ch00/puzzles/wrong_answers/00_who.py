"""Wrong answers to 00_who. The docstring of each holds words of its refusal."""


def row_and_column_exchanged(row, col):
    """computes D[0, 1]"""
    return col // 32, row // 32, 32 * (row % 32) + col % 32


def blocks_exchanged(row, col):
    """computes D[0, 32]"""
    return row // 32, col // 32, row % 32 + 32 * (col % 32)


def without_remainder(row, col):
    """computes D[32, 1]"""
    return col // 32, row // 32, row + 32 * col


def only_the_thread(row, col):
    """Return three whole numbers"""
    return row % 32 + 32 * (col % 32)
