"""Wrong answers to 07_copy_wavefronts. The docstring of each holds words of its refusal."""


def as_a_store(places):
    """returned 1; expected 3. This is row 1 of a tile whose rows have 1 unused chunks"""
    return 1


def lines_alone(places):
    """returned 2; expected 3"""
    return len({place // 8 for place in places})


def torn_or_not(places):
    """returned 2; expected 3"""
    return 2 if any(places[c] // 2 != places[c + 1] // 2 for c in range(0, 8, 2)) else 1


def sectors(places):
    """returned 4; expected 1. This is row 0"""
    return len({place // 2 for place in places})


def four_parts_for_every_torn_row(places):
    """returned 4; expected 3"""
    torn = places[0] // 2 != places[1] // 2
    return len({place // 8 for place in places}) * (2 if torn else 1)


def halves_of_the_destination(places):
    """expected"""
    return len({(place // 8, place % 2) for place in places})


def by_table(places):
    """KeyError"""
    return {tuple(range(r, r + 8)): n for r, n in enumerate((1, 3, 2, 4, 2, 4, 2, 3))}[tuple(places)]
