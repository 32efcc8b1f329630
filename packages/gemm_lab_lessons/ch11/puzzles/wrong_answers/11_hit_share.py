"""Wrong answers to 11_hit_share. The docstring of each holds words of its refusal."""


def zero(rows, columns, block_m, block_n):
    """of which"""
    return 0.0


def share_that_is_different(rows, columns, block_m, block_n):
    """of which"""
    return (rows * block_m + columns * block_n) / (rows * columns * (block_m + block_n))


def sides_exchanged(rows, columns, block_m, block_n):
    """of which"""
    return 1 - (rows * block_n + columns * block_m) / (rows * columns * (block_m + block_n))


def in_percent(rows, columns, block_m, block_n):
    """of which"""
    return 100 * (1 - (rows * block_m + columns * block_n) / (rows * columns * (block_m + block_n)))
