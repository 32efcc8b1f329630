def best_intensity(n):
    return 2 * n**3 / (3 * n**2 * 2)
