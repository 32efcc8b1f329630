"""Wrong answers to 11_mn_major. The docstring of each holds words of its refusal."""


def zero(start, k):
    """field of the leading offset"""
    return 0


def as_if_k_major(start, k):
    """It says 16 bytes"""
    return (start + k * 2) >> 4 | 1 << 16 | 64 << 32 | 1 << 62


def offsets_exchanged(start, k):
    """field of the leading offset, from bit 16 on, has 0x40"""
    return (start + k * 128) >> 4 | 64 << 16 | 512 << 32 | 1 << 62


def not_divided_by_16(start, k):
    """field of the leading offset, from bit 16 on, has 0x2000"""
    return start + k * 128 | 8192 << 16 | 1024 << 32 | 1 << 62


def no_swizzle(start, k):
    """field of the swizzle"""
    return (start + k * 128) >> 4 | 512 << 16 | 64 << 32


def a_bit_of_tcgen05(start, k):
    """sets bits outside of the fields"""
    return (start + k * 128) >> 4 | 512 << 16 | 64 << 32 | 1 << 46 | 1 << 62
