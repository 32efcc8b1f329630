def descriptor(start, k):
    address, leading, stride = start + k * 128, 64 * 128, 8 * 128
    return address >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 62
