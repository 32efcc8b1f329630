"""Wrong answers to 01_balance. The docstring of each holds words of its refusal."""


def without_units(tflops, gbps):
    """the memory allows"""
    return tflops / gbps


def upside_down(tflops, gbps):
    """exactly the peak"""
    return gbps / (1000 * tflops)


def rounded(tflops, gbps):
    """returned 295; expected 295.4"""
    return int(1000 * tflops / gbps)
