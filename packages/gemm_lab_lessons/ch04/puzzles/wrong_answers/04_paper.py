"""Wrong answers to 04_paper. The docstring of each holds words of its refusal."""


def no_conflicts(n):
    """That is the number without conflicts"""
    return n // 256 * (n // 128) * (n // 64) * (384 + 2 * 256 + 4 * 128)


def no_stores(n):
    """The stores of the copy are missing"""
    return n // 256 * (n // 128) * (n // 64) * 8 * (2 * 256 + 4 * 128)


def all_of_degree_eight(n):
    """The stores have a conflict degree of 1"""
    return n // 256 * (n // 128) * (n // 64) * 8 * (384 + 2 * 256 + 4 * 128)


def each_tile_once(n):
    """Each tile is read more than once"""
    return n // 256 * (n // 128) * (n // 64) * (384 + 8 * 384)


def warps_exchanged(n):
    """2 side by side read the same rows of A"""
    return n // 256 * (n // 128) * (n // 64) * (384 + 8 * (4 * 256 + 2 * 128))


def all_warps_read_all(n):
    """A warp does not read whole tiles"""
    return n // 256 * (n // 128) * (n // 64) * (384 + 8 * 8 * 384)


def square(n):
    """At 256 your function was right; 512 has more blocks"""
    return 68_608 * (n // 256) ** 2


def one_block(n):
    """one_block(256) returned 34,304; expected 68,608"""
    return n // 64 * 8576


def by_table(n):
    """KeyError"""
    return {256: 68_608, 512: 548_864}[n]
