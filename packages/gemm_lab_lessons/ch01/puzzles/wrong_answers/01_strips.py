"""Wrong answers to 01_strips. The docstring of each holds words of its refusal."""


def two_each(tiles):
    """These are twelve tiles in a line"""
    return 2 * len(tiles)


def rows_and_columns_mixed(tiles):
    """returned 1; expected 2"""
    return len({number for tile in tiles for number in tile})


def the_product(tiles):
    """returned 1; expected 2"""
    return len({row for row, _ in tiles}) * len({column for _, column in tiles})


def a_bounding_box(tiles):
    """two tiles with a gap"""
    rows, columns = [row for row, _ in tiles], [column for _, column in tiles]
    return max(rows) - min(rows) + max(columns) - min(columns) + 2


def a_square(tiles):
    """returned 2; expected 4"""
    return 2 * round(len(tiles) ** 0.5)
