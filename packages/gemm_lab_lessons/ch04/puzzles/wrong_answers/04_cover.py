"""Wrong answers to 04_cover. The docstring of each holds words of its refusal."""


def as_it_is(turn, warp, lane):
    """The store of warp 0 in turn 0 takes 2 wavefronts"""
    i = turn * 256 + warp * 32 + lane
    return i // 16, i % 16


def every_warp_the_same(turn, warp, lane):
    """is taken twice: by cover(0, 0, 0) and by cover(0, 1, 0)"""
    return turn * 16 % 128 + lane // 16 * 16, lane % 16


def overlapping_turns(turn, warp, lane):
    """is taken twice"""
    return turn * 8 + warp + lane // 16 * 16, lane % 16


def beyond_the_tile(turn, warp, lane):
    """m is between 0 and 127"""
    return turn * 32 + warp + lane // 16 * 16, lane % 16


def down_the_columns(turn, warp, lane):
    """the read before it touches 32 sectors"""
    i = turn * 256 + warp * 32 + lane
    return i % 128, i // 128


def rows_eight_apart(turn, warp, lane):
    """The store of warp 0 in turn 0 takes 2 wavefronts"""
    return turn * 16 + warp + lane // 16 * 8, lane % 16
