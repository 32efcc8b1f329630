def transposed(lane):
    row, col = lane % 4 * 2, lane // 4
    return [(row, col), (row + 1, col)]
