"""Wrong answers to 11_in_flight. The docstring of each holds words of its refusal."""


def zero(block_m, block_n, block_k, stages):
    """A stage has"""
    return 0


def all_stages(block_m, block_n, block_k, stages):
    """A stage has"""
    return stages * (block_m + block_n) * block_k * 2


def elements_not_bytes(block_m, block_n, block_k, stages):
    """A stage has"""
    return (stages - 1) * (block_m + block_n) * block_k


def tile_of_d(block_m, block_n, block_k, stages):
    """A stage has"""
    return (stages - 1) * block_m * block_n * 2
