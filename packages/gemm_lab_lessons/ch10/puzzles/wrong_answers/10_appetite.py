"""Wrong answers to 10_appetite. The docstring of each holds words of its refusal."""


def values_in_place_of_bytes(block_m, block_n):
    """values of 2 bytes"""
    return 4096 * (block_m + block_n) / (2 * block_m * block_n)


def area(block_m, block_n):
    """values of 2 bytes"""
    return 4096 / (block_m * block_n)


def multiply_adds_counted_once(block_m, block_n):
    """values of 2 bytes"""
    return 2 * 4096 * (block_m + block_n) / (block_m * block_n)
