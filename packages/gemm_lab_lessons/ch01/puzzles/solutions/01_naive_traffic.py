def naive_traffic(n):
    return 2 * n**3 + n**2
