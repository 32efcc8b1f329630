"""Wrong answers to 07_wait_n. The docstring of each holds words of its refusal."""


def counts_the_needed_one(closed, needed):
    """(1, 0) returned 1; expected 0. Of the groups 0 to 0, newer than 0: none."""
    return closed - needed


def waits_for_all(closed, needed):
    """(2, 0) returned 0; expected 1. Of the groups 0 to 1, newer than 0: 1."""
    return 0


def stages_less_two(closed, needed):
    """expected"""
    return closed - 2


def the_number(closed, needed):
    """returned 0; expected 1"""
    return needed
