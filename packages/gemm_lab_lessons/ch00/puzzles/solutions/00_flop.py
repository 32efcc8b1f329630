def flop(m, n, k):
    return 2 * m * n * k
