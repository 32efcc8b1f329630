"""Wrong answers to 02_barrier. The docstring of each holds words of its refusal."""


def no_barrier(row, col, A, B, D, a, b):
    """with no yield between the two"""
    total = 0
    for k in range(0, A.cols, a.cols):
        a[row, col] = A[row, k + col]
        b[row, col] = B[k + row, col]
        for kk in range(a.cols):
            total += a[row, kk] * b[kk, col]
    D[row, col] = total


def only_before_the_products(row, col, A, B, D, a, b):
    """with no yield between the two. On a GPU either may come first"""
    total = 0
    for k in range(0, A.cols, a.cols):
        a[row, col] = A[row, k + col]
        b[row, col] = B[k + row, col]
        yield
        for kk in range(a.cols):
            total += a[row, kk] * b[kk, col]
    D[row, col] = total


def only_behind_the_products(row, col, A, B, D, a, b):
    """with no yield between the two"""
    total = 0
    for k in range(0, A.cols, a.cols):
        a[row, col] = A[row, k + col]
        b[row, col] = B[k + row, col]
        for kk in range(a.cols):
            total += a[row, kk] * b[kk, col]
        yield
    D[row, col] = total


def between_all_products(row, col, A, B, D, a, b):
    """Two barriers for each pair are enough"""
    total = 0
    for k in range(0, A.cols, a.cols):
        a[row, col] = A[row, k + col]
        b[row, col] = B[k + row, col]
        yield
        for kk in range(a.cols):
            total += a[row, kk] * b[kk, col]
            yield
    D[row, col] = total


def some_threads_only(row, col, A, B, D, a, b):
    """All threads of a block have to pass the same barriers"""
    total = 0
    for k in range(0, A.cols, a.cols):
        a[row, col] = A[row, k + col]
        b[row, col] = B[k + row, col]
        yield
        for kk in range(a.cols):
            total += a[row, kk] * b[kk, col]
        if row == 0 or k + a.cols < A.cols:
            yield
    D[row, col] = total


def around_the_tiles(row, col, A, B, D, a, b):
    """elements of A from DRAM, and"""
    total = 0
    for k in range(0, A.cols, a.cols):
        a[row, col] = A[row, k + col]
        b[row, col] = B[k + row, col]
        yield
        for kk in range(a.cols):
            total += A[row, k + kk] * B[k + kk, col]
        total += 0 * (a[row, 0] + b[0, col])
        yield
    D[row, col] = total
