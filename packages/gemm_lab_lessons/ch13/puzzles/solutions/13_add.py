def add(c, a, b, bits):
    import math

    def exponent(x, least=-6):
        return max(math.frexp(x)[1] - 1, least) if x else least

    def cut(x, top):
        step = 2.0 ** (top - bits)
        return int(x / step) * step

    pairs = list(zip(a, b, strict=True))
    top = max([exponent(x) + exponent(y) for x, y in pairs if x and y] + [exponent(c, -126)])
    total = sum(cut(x * y, top) for x, y in pairs) + cut(c, top)
    return cut(total, exponent(total, -126))
