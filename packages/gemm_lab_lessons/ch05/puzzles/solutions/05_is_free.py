from math import gcd


def is_free(distance, places):
    return gcd(distance, places) == 1
