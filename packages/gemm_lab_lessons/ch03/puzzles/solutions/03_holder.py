def holder(row, k):
    return row % 8 * 4 + k // 2, row // 8, k % 2
