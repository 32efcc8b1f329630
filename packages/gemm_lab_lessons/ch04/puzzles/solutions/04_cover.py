def cover(turn, warp, lane):
    pair = turn * 8 + warp  # of rows that lie 16 apart
    return pair // 16 * 32 + pair % 16 + lane // 16 * 16, lane % 16
