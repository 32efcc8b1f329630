"""Wrong answers to 05_is_free. The docstring of each holds words of its refusal."""


def no_multiple(distance, places):
    """Rows 0, 1, 2 … begin at the places 0, 2, 0, 2."""
    return distance % places != 0


def always_when_longer(distance, places):
    """expected"""
    return distance > places


def only_one_further(distance, places):
    """(3, 4) returned False; expected True"""
    return distance % places == 1


def a_number(distance, places):
    """returned 1; expected True"""
    return distance % 2


def by_table(distance, places):
    """KeyError"""
    return {(d, 4): d % 2 == 1 for d in range(1, 14)}[distance, places]


def any_odd_distance(distance, places):
    """returned True; expected False"""
    return distance % 2 == 1
