"""Wrong answers to 01_attainable. The docstring of each holds words of its refusal."""


def without_units(intensity, tflops, gbps):
    """the peak is 65.0 TFLOPS"""
    return min(intensity * gbps, tflops)


def without_the_roof(intensity, tflops, gbps):
    """expected 65.0"""
    return intensity * gbps / 1000


def the_larger(intensity, tflops, gbps):
    """expected 11.0"""
    return max(intensity * gbps / 1000, tflops)


def sum_of_both(intensity, tflops, gbps):
    """expected 11.0"""
    return intensity * gbps / 1000 + tflops
