"""Wrong answers to 11_newest. The docstring of each holds words of its refusal."""


def always_drained(committed, needed):
    """The newest group is number 1"""
    return 0


def one_too_many(committed, needed):
    """The newest group is number 0"""
    return committed - needed


def number_of_the_group(committed, needed):
    """The newest group is number"""
    return needed
