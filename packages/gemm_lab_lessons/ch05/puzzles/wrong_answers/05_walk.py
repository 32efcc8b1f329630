"""Wrong answers to 05_walk. The docstring of each holds words of its refusal."""


def adds(first, along, down):
    """Chunk 1 of row 1 is wanted"""
    return first + 16 * along + 1024 * down


def chunks_and_bytes(first, along, down):
    """returned"""
    return (first ^ along) + 1024 * down


def one_row_down(first, along, down):
    """returned 128; expected 1024"""
    return (first ^ 16 * along) + 128 * down


def everything_by_xor(first, along, down):
    """Chunk 0 of row 19 is wanted"""
    return first ^ 16 * along ^ 1024 * down


def swizzles_twice(first, along, down):
    """expected"""
    address = first + 16 * along + 1024 * down
    return address ^ (address >> 3 & 112)
