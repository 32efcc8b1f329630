def received(lane):
    row, col = lane // 4, lane % 4 * 2
    return [(row, col), (row, col + 1)]
