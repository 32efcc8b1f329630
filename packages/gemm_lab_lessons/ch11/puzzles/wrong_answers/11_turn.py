"""Wrong answers to 11_turn. The docstring of each holds words of its refusal."""


def zeros(i, stages):
    """Stage 0 has been used 0 times before"""
    return 0, 0, 0


def producer_begins_with_0(i, stages):
    """times before"""
    return i % stages, i // stages % 2, i // stages % 2


def parity_of_the_turn(i, stages):
    """times before"""
    return i % stages, i % 2, (i + 1) % 2


def phases_not_parities(i, stages):
    """times before"""
    return i % stages, i // stages, i // stages + 1
