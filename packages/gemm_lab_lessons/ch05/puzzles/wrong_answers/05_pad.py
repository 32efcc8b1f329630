"""Wrong answers to 05_pad. The docstring of each holds words of its refusal."""


def always_sixteen(row_bytes):
    """Rows then begin 32 bytes apart, and ldmatrix.x4 takes 8 wavefronts"""
    return 16


def to_an_odd_number_too_late(row_bytes):
    """That is free of conflicts, but 0 bytes are enough"""
    return 16 if row_bytes // 16 % 2 == 0 else 32


def one_word(row_bytes):
    """a multiple of 16, because ldmatrix needs it"""
    return 4


def never(row_bytes):
    """ldmatrix.x4 takes 8 wavefronts"""
    return 0


def a_sector(row_bytes):
    """(32) returned 32. Rows then begin 64 bytes apart"""
    return 0 if row_bytes == 16 else 32


def in_chunks(row_bytes):
    """(32) returned 1;"""
    return 1 if row_bytes // 16 % 2 == 0 else 0


def up_to_a_line(row_bytes):
    """bytes are enough"""
    return (128 - row_bytes % 128) + 16


def by_table(row_bytes):
    """KeyError"""
    return {16: 0, 32: 16, 64: 16, 128: 16, 256: 16}[row_bytes]
