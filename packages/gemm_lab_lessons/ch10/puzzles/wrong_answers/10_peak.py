"""Wrong answers to 10_peak. The docstring of each holds words of its refusal."""


def multiply_adds_counted_once(mhz, sms):
    """operations"""
    return 2048 * sms * mhz / 1e6


def always_the_data_sheet(mhz, sms):
    """operations"""
    return 989.4


def in_gflops(mhz, sms):
    """operations"""
    return 4096 * sms * mhz / 1e3
