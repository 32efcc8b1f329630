"""Wrong answers to 10_clock. The docstring of each holds words of its refusal."""


def upside_down(first, last):
    """cycles passed in"""
    return 1000 * (last[1] - first[1]) / (last[0] - first[0])


def since_the_start(first, last):
    """cycles passed in"""
    return 1000 * last[0] / last[1]


def in_ghz(first, last):
    """expected 1800"""
    return (last[0] - first[0]) / (last[1] - first[1])
