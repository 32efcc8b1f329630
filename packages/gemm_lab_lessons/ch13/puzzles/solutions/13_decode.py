def decode(byte):
    import math

    sign, e, f = -1 if byte >> 7 else 1, byte >> 3 & 15, byte & 7
    if e == 15 and f == 7:
        return math.nan
    return sign * (1 + f / 8) * 2.0 ** (e - 7) if e else sign * f / 8 * 2.0**-6
