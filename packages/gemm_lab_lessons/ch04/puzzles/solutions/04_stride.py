from math import gcd


def stride_wavefronts(stride, banks):
    if stride == 0:
        return 1  # all lanes ask for one word
    return gcd(stride, banks)
