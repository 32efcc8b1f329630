def swizzle_bits(address, bits, base, shift):
    mask = ((1 << bits) - 1) << base
    return address ^ (address >> shift & mask)
