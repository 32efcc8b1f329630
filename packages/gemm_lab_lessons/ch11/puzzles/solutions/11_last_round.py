def last_round(m, n, block_m, block_n, sms):
    tiles = -(-m // block_m) * -(-n // block_n)
    rounds = -(-tiles // sms)
    return rounds, tiles - (rounds - 1) * sms
