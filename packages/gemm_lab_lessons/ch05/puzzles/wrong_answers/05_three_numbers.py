"""Wrong answers to 05_three_numbers. The docstring of each holds words of its refusal."""


def always_three_bits(address, bits, base, shift):
    """returned"""
    return address ^ (address >> shift & 7 << base)


def mask_at_the_bottom(address, bits, base, shift):
    """returned"""
    return address ^ (address >> shift & (1 << bits) - 1)


def up_instead_of_down(address, bits, base, shift):
    """returned"""
    mask = ((1 << bits) - 1) << base
    return address ^ ((address & mask) << shift)


def mask_before_the_shift(address, bits, base, shift):
    """returned"""
    mask = ((1 << bits) - 1) << base
    return address ^ (address & mask) >> shift


def always_128_bytes(address, bits, base, shift):
    """returned"""
    return address ^ (address >> 3 & 0b1110000)
