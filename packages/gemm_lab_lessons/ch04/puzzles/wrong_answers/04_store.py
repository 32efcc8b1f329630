"""Wrong answers to 04_store. The docstring of each holds words of its refusal."""


def in_floats(thread):
    """stores smem_a[1][0]"""
    return thread % 16 * 129 + thread // 16


def without_the_unused_float(thread):
    """returned 512; expected 516"""
    return 4 * (thread % 16 * 128 + thread // 16)


def not_transposed(thread):
    """returned 4; expected 516"""
    return 4 * (thread // 16 * 129 + thread % 16)


def of_warp_0_only(thread):
    """expected 8. Thread 32 stores smem_a[0][2]"""
    lane = thread % 32
    return 4 * (lane % 16 * 129 + lane // 16)
