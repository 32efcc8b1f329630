"""Wrong answers to 01_best_intensity. The docstring of each holds words of its refusal."""


def elements_for_bytes(n):
    """elements of 2 bytes"""
    return 2 * n**3 / (3 * n**2)


def two_matrices(n):
    """its three matrices have 27 elements"""
    return 2 * n**3 / (2 * n**2 * 2)


def multiply_adds(n):
    """expected 1.0"""
    return n**3 / (3 * n**2 * 2)


def rounds_down(n):
    """expected"""
    return n // 3
