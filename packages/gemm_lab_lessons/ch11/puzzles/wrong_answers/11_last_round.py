"""Wrong answers to 11_last_round. The docstring of each holds words of its refusal."""


def zeros(m, n, block_m, block_n, sms):
    """tiles for 132 multiprocessors"""
    return 0, 0


def remainder(m, n, block_m, block_n, sms):
    """(1, 0)"""
    tiles = -(-m // block_m) * -(-n // block_n)
    return -(-tiles // sms), tiles % sms


def rounded_down(m, n, block_m, block_n, sms):
    """tiles for"""
    tiles = m // block_m * (n // block_n)
    rounds = -(-tiles // sms)
    return rounds, tiles - (rounds - 1) * sms


def area(m, n, block_m, block_n, sms):
    """tiles for"""
    tiles = -(-m * n // (block_m * block_n))
    rounds = -(-tiles // sms)
    return rounds, tiles - (rounds - 1) * sms
