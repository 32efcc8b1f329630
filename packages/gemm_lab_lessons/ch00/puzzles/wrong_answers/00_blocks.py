"""Wrong answers to 00_blocks. The docstring of each holds words of its refusal."""


def rounds_down(m, n):
    """33 is no multiple of 32"""
    return (m // 32) * (n // 32)


def rounds_the_area(m, n):
    """returned 10; expected 16"""
    return -(-m * n // 1024)


def one_more_always(m, n):
    """returned 4; expected 1"""
    return (m // 32 + 1) * (n // 32 + 1)


def one_side(m, n):
    """returned 8; expected 64"""
    return -(-m // 32)
