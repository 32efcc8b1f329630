"""Wrong answers to 04_place. The docstring of each holds words of its refusal."""


def as_it_is(lane):
    """The store takes 2 wavefronts. Lanes 1 and 16 take (0, 1) and (1, 0), both in bank 1"""
    return lane // 16, lane % 16


def eight_apart(lane):
    """The store takes 2 wavefronts"""
    return lane // 16 * 8, lane % 16


def thirty_two_apart(lane):
    """The store takes 2 wavefronts. Lanes 0 and 16"""
    return lane // 16 * 32, lane % 16


def down_a_column(lane):
    """The store has no conflict, but the read before it touches 32 sectors"""
    return lane, 0


def the_same_row_twice(lane):
    """Lanes 0 and 16 both take element (0, 0)"""
    return 0, lane % 16


def beyond_the_tile(lane):
    """k between 0 and 15"""
    return 0, lane


def one_number(lane):
    """expected a pair (m, k)"""
    return lane // 16 * 16


def fractions(lane):
    """m and k are whole numbers"""
    return lane / 16, lane % 16
