"""Wrong answers to 05_stages. The docstring of each holds words of its refusal."""


def without_padding(room, rows, row_bytes, pad_bytes):
    """returned"""
    return room // (rows * row_bytes)


def one_padding_for_all(room, rows, row_bytes, pad_bytes):
    """each of them takes 128 bytes and 16 unused ones"""
    return room // (rows * row_bytes + pad_bytes)


def broken_stages(room, rows, row_bytes, pad_bytes):
    """1.7777777777777777; expected 1"""
    return room / (rows * (row_bytes + pad_bytes))


def rounded(room, rows, row_bytes, pad_bytes):
    """returned 2; expected 1"""
    return round(room / (rows * (row_bytes + pad_bytes)))


def last_row_without_padding(room, rows, row_bytes, pad_bytes):
    """also the last"""
    return room // (rows * (row_bytes + pad_bytes) - pad_bytes)


def nothing_behind_the_last_stage(room, rows, row_bytes, pad_bytes):
    """returned 2; expected 1"""
    return (room + pad_bytes) // (rows * (row_bytes + pad_bytes))
