"""Wrong answers to 01_seconds. The docstring of each holds words of its refusal."""


def one_after_the_other(flop, bytes, flops, bandwidth):
    """they overlap"""
    return flop / flops + bytes / bandwidth


def only_arithmetic(flop, bytes, flops, bandwidth):
    """returned 1.0; expected 10.0"""
    return flop / flops


def the_faster_one(flop, bytes, flops, bandwidth):
    """returned 1.0; expected 10.0"""
    return min(flop / flops, bytes / bandwidth)


def upside_down(flop, bytes, flops, bandwidth):
    """expected 10.0"""
    return max(flops / flop, bandwidth / bytes)
