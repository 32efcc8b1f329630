"""Wrong answers to 05_any_row. The docstring of each holds words of its refusal."""


def rule_of_128(row, chunk, chunks):
    """has only the places 0 to 1"""
    return chunk ^ row % 8


def row_modulo_chunks(row, chunk, chunks):
    """row_modulo_chunks(0, 0, 2) is 0"""
    return chunk ^ row % chunks


def pairs_always(row, chunk, chunks):
    """in rows 0 and 4 it lies in the same four banks"""
    return chunk ^ row // 2 % min(chunks, 8)


def divides_long_rows_by_nothing(row, chunk, chunks):
    """ZeroDivisionError"""
    return chunk ^ row // (8 // chunks) % chunks


def multiplies_long_rows(row, chunk, chunks):
    """(4, 0, 16) is 8"""
    return chunk ^ row * chunks // 8 % chunks


def by_table(row, chunk, chunks):
    """KeyError"""
    return chunk ^ {4: row // 2 % 4, 8: row % 8}[chunks]
