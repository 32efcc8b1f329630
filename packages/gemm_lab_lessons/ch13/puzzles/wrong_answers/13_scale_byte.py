"""Wrong answers to 13_scale_byte. The docstring of each holds words of its refusal."""


def row_by_row(row, column, columns):
    """(1, 0, 4) returned 4; expected 16"""
    return row * columns + column


def one_tile_only(row, column, columns):
    """It is in tile 1, in its row 0 and its column 0."""
    return row % 32 * 16 + row // 32 * 4 + column


def tiles_down_the_columns(row, column, columns):
    """(0, 4, 8) returned 1536; expected 512"""
    tile = column // 4 * 3 + row // 128
    return tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + column % 4


def four_rows_side_by_side(row, column, columns):
    """(1, 0, 4) returned 4; expected 16"""
    tile = row // 128 * (columns // 4) + column // 4
    return tile * 512 + row % 128 // 4 * 16 + row % 4 * 4 + column % 4
