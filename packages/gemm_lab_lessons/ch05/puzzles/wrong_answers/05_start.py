"""Wrong answers to 05_start. The docstring of each holds words of its refusal."""


def a_line(start, row_bytes):
    """(128, 128) returned True; expected False"""
    return start % 128 == 0


def always_1024(start, row_bytes):
    """returned False; expected True"""
    return start % 1024 == 0


def a_row(start, row_bytes):
    """its first chunk then lies 16 bytes behind the beginning"""
    return start % row_bytes == 0


def four_rows(start, row_bytes):
    """(512, 128) returned True; expected False"""
    return start % (4 * row_bytes) == 0


def at_zero_only(start, row_bytes):
    """in the same order as those of a tile that begins at byte 0"""
    return start == 0


def a_remainder(start, row_bytes):
    """returned 0; expected True"""
    return start % (8 * row_bytes)
