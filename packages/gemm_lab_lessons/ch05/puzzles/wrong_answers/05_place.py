"""Wrong answers to 05_place. The docstring of each holds words of its refusal."""


def forgets_the_padding(row, column, columns, pad):
    """(1, 0, 4, 1) returned 4; expected 5. Whole rows before it: 1"""
    return row * columns + column


def pads_every_element(row, column, columns, pad):
    """returned"""
    return row * columns + column * (1 + pad)


def pads_once(row, column, columns, pad):
    """expected 10"""
    return row * columns + column + (pad if row else 0)


def rows_and_columns_exchanged(row, column, columns, pad):
    """returned 4; expected 1"""
    return column * (columns + pad) + row


def by_table(row, column, columns, pad):
    """KeyError"""
    return {(r, c, 4, 0): 4 * r + c for r in range(7) for c in range(4)}[row, column, columns, pad]
