def blocks(m, n):
    return -(-m // 32) * -(-n // 32)
