def tiled_traffic(n, t):
    tiles = (n // t) ** 2
    return tiles * 2 * t * n + n**2
