"""Wrong answers to 01_room. The docstring of each holds words of its refusal."""


def without_stages(bm, bn, bk, stages):
    """returned (16384, 65536); expected (32768, 65536)"""
    return (bm + bn) * bk * 2, bm * bn * 4


def stages_of_sums(bm, bn, bk, stages):
    """expected (32768, 65536)"""
    return stages * (bm + bn) * bk * 2, stages * bm * bn * 4


def elements(bm, bn, bk, stages):
    """elements of 2 bytes"""
    return stages * (bm + bn) * bk, bm * bn


def one_number(bm, bn, bk, stages):
    """expected (32768, 65536)"""
    return stages * (bm + bn) * bk * 2 + bm * bn * 4
