"""Wrong answers to 10_joules. The docstring of each holds words of its refusal."""


def power_over_speed(watts, tflops, n):
    """operations take"""
    return watts / tflops


def half_the_operations(watts, tflops, n):
    """operations take"""
    return watts * n**3 / (tflops * 1e12)


def watts_times_operations(watts, tflops, n):
    """operations take"""
    return watts * 2 * n**3
