def multiply(A, B):
    m, k = len(A), len(B)
    n = len(B[0])
    D = [[0] * n for row in range(m)]
    for i in range(m):
        for j in range(n):
            for p in range(k):
                D[i][j] += A[i][p] * B[p][j]
    return D
