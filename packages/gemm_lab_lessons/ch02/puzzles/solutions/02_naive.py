def naive(A, B, D):
    for i in range(D.rows):
        for j in range(D.cols):
            total = 0
            for k in range(A.cols):
                total += A[i, k] * B[k, j]
            D[i, j] = total
