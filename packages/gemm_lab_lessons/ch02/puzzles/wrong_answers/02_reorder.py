"""Wrong answers to 02_reorder. The docstring of each holds words of its refusal."""


def as_it_was(A, B, D):
    """Your order fetches 7,812 lines"""
    for i in range(D.rows):
        for j in range(D.cols):
            for k in range(A.cols):
                D[i, j] += A[i, k] * B[k, j]


def down_two_columns(A, B, D):
    """Your order fetches 14,400 lines"""
    for j in range(D.cols):
        for k in range(A.cols):
            for i in range(D.rows):
                D[i, j] += A[i, k] * B[k, j]


def along_rows_of_other_rows(A, B, D):
    """(A 288, B 72, D 864), and the best of the six orders"""
    for k in range(A.cols):
        for i in range(D.rows):
            for j in range(D.cols):
                D[i, j] += A[i, k] * B[k, j]


def loses_the_sum(A, B, D):
    """D is 3 × 4, with k = 5. D[0, 0] is"""
    for i in range(D.rows):
        for k in range(A.cols):
            for j in range(D.cols):
                D[i, j] = A[i, k] * B[k, j]
