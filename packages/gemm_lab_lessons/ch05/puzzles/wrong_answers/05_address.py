"""Wrong answers to 05_address. The docstring of each holds words of its refusal."""


def all_row_bits(address):
    """returned"""
    return address ^ address >> 3


def not_shifted(address):
    """Byte 128 lies in chunk 0 of row 1"""
    return address ^ address & 0b1110000000


def one_bit(address):
    """0 ^ 7 is 7"""
    return address ^ (address >> 3 & 0b0010000)


def bytes_and_chunks_exchanged(address):
    """returned"""
    return address ^ address // 128 % 8


def forgets_the_row(address):
    """returned 16; expected 144"""
    chunk, row = address % 128 // 16, address // 128
    return 16 * (chunk ^ row % 8) + address % 16


def loses_the_byte(address):
    """expected"""
    chunk, row = address % 128 // 16, address // 128
    return 128 * row + 16 * (chunk ^ row % 8)
