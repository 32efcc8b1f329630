"""Wrong answers to 05_toy. The docstring of each holds words of its refusal."""


def nothing_moves(row, column):
    """Column 0 lies in bank 0 both in row 0 and in row 1"""
    return column


def leaves_the_row(row, column):
    """a row of 4 columns has only the places 0 to 3"""
    return column + row


def mirrored(row, column):
    """reading the column takes more than one wavefront"""
    return column if row % 2 == 0 else 3 - column


def two_banks_only(row, column):
    """both in row 0 and in row 2"""
    return (column + 2 * row) % 4


def overwrites(row, column):
    """one would overwrite the other"""
    return column * row % 4


def as_a_text(row, column):
    """a place is a whole number"""
    return str(column ^ row)
