"""Wrong answers to 07_blocks. The docstring of each holds words of its refusal."""


def the_sum_of_all_quarters(registers, threads):
    """(169, 128) returned 3; expected 2"""
    return 65_536 // (registers * threads)


def without_steps(registers, threads):
    """A warp takes 5,632 registers, so a quarter has room for 2 warps"""
    return 4 * (16_384 // (32 * registers)) // (threads // 32)


def rounded_up(registers, threads):
    """(168, 128) returned 4; expected 3"""
    return -(-65_536 // (-(-registers // 8) * 8 * threads))


def warps(registers, threads):
    """returned 12; expected 3"""
    return 4 * (16_384 // (32 * (-(-registers // 8) * 8)))


def one_quarter(registers, threads):
    """returned 0; expected 3"""
    return 16_384 // (32 * (-(-registers // 8) * 8)) // (threads // 32)
