def reordered(A, B, D):
    for i in range(D.rows):
        for k in range(A.cols):
            for j in range(D.cols):
                D[i, j] += A[i, k] * B[k, j]
