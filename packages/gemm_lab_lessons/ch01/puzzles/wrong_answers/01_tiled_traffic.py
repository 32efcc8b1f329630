"""Wrong answers to 01_tiled_traffic. The docstring of each holds words of its refusal."""


def without_the_result(n, t):
    """expected"""
    return 2 * n**3 // t


def one_matrix(n, t):
    """rows of A and"""
    return n**3 // t + n**2


def divided_twice(n, t):
    """D has 16 tiles of 4 × 4"""
    return 2 * n**3 // (t * t) + n**2


def a_table(n, t):
    """KeyError"""
    return {(16, 1): 8448, (16, 4): 2304, (16, 16): 768}[n, t]
