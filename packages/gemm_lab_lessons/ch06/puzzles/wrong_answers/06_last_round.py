"""Wrong answers to 06_last_round. The docstring of each holds words of its refusal."""


def a_full_round_is_none(tiles, places):
    """(40, 40) returned 0; expected 40. 0 full rounds of 40 stand before the last one"""
    return tiles % places


def what_stays_idle(tiles, places):
    """returned 16; expected 24"""
    return -tiles % places


def rounds(tiles, places):
    """returned 2; expected 24"""
    return -(-tiles // places)


def a_share(tiles, places):
    """returned 0.6; expected 24"""
    return ((tiles - 1) % places + 1) / places


def never_a_full_one(tiles, places):
    """expected"""
    return min(tiles, tiles % places or places - 1)
