def thread(row, col, A, B, D, a, b):
    total = 0
    for k in range(0, A.cols, a.cols):
        a[row, col] = A[row, k + col]
        b[row, col] = B[k + row, col]
        yield  # the tiles are complete
        for kk in range(a.cols):
            total += a[row, kk] * b[kk, col]
        yield  # everybody has read them
    D[row, col] = total
