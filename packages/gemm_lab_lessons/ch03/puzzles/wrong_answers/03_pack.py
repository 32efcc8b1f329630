"""Wrong answers to 03_pack. The docstring of each holds words of its refusal."""


def exchanged(low, high):
    """together are"""
    return low << 16 | high


def added(low, high):
    """returned 1; expected 65536"""
    return low + high


def a_byte_only(low, high):
    """returned 256; expected 65536"""
    return low | high << 8
