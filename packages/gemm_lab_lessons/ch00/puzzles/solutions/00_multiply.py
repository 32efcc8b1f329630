import numpy as np


def multiply(A, B):
    m, k = A.shape
    k, n = B.shape
    D = np.zeros((m, n))
    for i in range(m):
        for j in range(n):
            for p in range(k):
                D[i, j] += A[i, p] * B[p, j]
    return D
