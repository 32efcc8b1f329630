"""Wrong answers to 10_two_limits. The docstring of each holds words of its refusal."""


def only_the_clock(mhz, terabytes, block_m, block_n):
    """The tensor cores allow"""
    return 4096 * 132 * mhz / 1e6


def only_the_bytes(mhz, terabytes, block_m, block_n):
    """The tensor cores allow"""
    return terabytes * block_m * block_n / (block_m + block_n)


def the_larger(mhz, terabytes, block_m, block_n):
    """The tensor cores allow"""
    return max(4096 * 132 * mhz / 1e6, terabytes * block_m * block_n / (block_m + block_n))
