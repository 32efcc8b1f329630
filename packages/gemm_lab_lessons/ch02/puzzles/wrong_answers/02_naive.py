"""Wrong answers to 02_naive. The docstring of each holds words of its refusal."""


def sums_in_d(A, B, D):
    """24 elements of D were read from DRAM, and 0 are enough. Let the sums grow"""
    for i in range(D.rows):
        for j in range(D.cols):
            for k in range(A.cols):
                D[i, j] += A[i, k] * B[k, j]


def never_begins_anew(A, B, D):
    """D is 2 × 3, with k = 4. D[0, 1] is"""
    total = 0
    for i in range(D.rows):
        for j in range(D.cols):
            for k in range(A.cols):
                total += A[i, k] * B[k, j]
            D[i, j] = total


def b_by_rows(A, B, D):
    """A[0, 1] was multiplied by B[0, 1]. In a product the column of A is the row of B"""
    for i in range(D.rows):
        for j in range(D.cols):
            D[i, j] = sum(A[i, k] * B[j, k] for k in range(A.cols))


def other_extents(A, B, D):
    """There is no A[0, 4]: A has columns 0 to 3"""
    for i in range(D.rows):
        for j in range(D.cols):
            total = 0
            for k in range(A.cols + 1):
                total += A[i, k] * B[k, j]
            D[i, j] = total


def one_row(A, B, D):
    """D[1, 0] was never stored. In all, 3 of 6 elements"""
    for j in range(D.cols):
        total = 0
        for k in range(A.cols):
            total += A[0, k] * B[k, j]
        D[0, j] = total


def reads_twice(A, B, D):
    """48 elements of A were read from DRAM, and 24 are enough. Each multiply-add"""
    for i in range(D.rows):
        for j in range(D.cols):
            total = 0
            for k in range(A.cols):
                if A[i, k] or True:
                    total += A[i, k] * B[k, j]
            D[i, j] = total


def stores_too_often(A, B, D):
    """24 elements of D were stored to DRAM, and 6 are enough"""
    for i in range(D.rows):
        for j in range(D.cols):
            total = 0
            for k in range(A.cols):
                total += A[i, k] * B[k, j]
                D[i, j] = total


def by_numpy(A, B, D):
    """There is no @ here"""
    D[0 : D.rows, 0 : D.cols] = A @ B
