def pack(low, high):
    return low + 65536 * high
