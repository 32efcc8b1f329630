def fails(x, y, bits, most):
    import math

    def exponent(x, least=-6):
        return max(math.frexp(x)[1] - 1, least) if x else least

    def cut(x, top):
        step = 2.0 ** (top - bits)
        return int(x / step) * step

    c, k = 0.0, 0
    while k * x * y - c <= most * k * x * y:
        top = max(exponent(x) + exponent(y), exponent(c, -126))
        total = cut(c, top) + 32 * cut(x * y, top)
        c, k = cut(total, exponent(total, -126)), k + 32
    return k
