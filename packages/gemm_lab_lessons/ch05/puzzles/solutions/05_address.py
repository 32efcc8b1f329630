def swizzled(address):
    row_bits = address >> 3 & 0b1110000
    return address ^ row_bits
