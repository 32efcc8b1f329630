"""Wrong answers to 01_together. The docstring of each holds words of its refusal."""


def the_mean(dram, l2, hits):
    """returned 750.0; expected 440.0"""
    return hits * l2 + (1 - hits) * dram


def without_the_limit(dram, l2, hits):
    """expected 1280.0"""
    return dram / (1 - hits)


def only_dram(dram, l2, hits):
    """returned 220.0; expected 440.0"""
    return dram


def divides_by_zero(dram, l2, hits):
    """raised ZeroDivisionError"""
    return min(l2, dram / (1 - hits))
