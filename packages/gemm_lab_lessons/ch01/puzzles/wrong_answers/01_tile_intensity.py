"""Wrong answers to 01_tile_intensity. The docstring of each holds words of its refusal."""


def twice(bm, bn):
    """returned 16.0; expected 8.0"""
    return 2 * bm * bn / (bm + bn)


def square(bm, bn):
    """expected 85.3"""
    return bm / 2


def elements_of_the_tile(bm, bn):
    """expected 8.0"""
    return bm * bn / (bm * bn)


def upside_down(bm, bn):
    """elements of 2 bytes are read"""
    return (bm + bn) / (bm * bn)
