"""Wrong answers to 00_flop. The docstring of each holds words of its refusal."""


def only_products(m, n, k):
    """returned 1; expected 2"""
    return m * n * k


def a_cube(m, n, k):
    """returned 16; expected 24"""
    return 2 * m**3


def one_addition_less(m, n, k):
    """added to zero"""
    return m * n * (2 * k - 1)


def the_elements_of_all(m, n, k):
    """returned 6; expected 2"""
    return 2 * (m * n + m * k + k * n)
