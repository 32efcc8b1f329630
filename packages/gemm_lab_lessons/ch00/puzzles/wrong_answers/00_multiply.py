"""Wrong answers to 00_multiply. The docstring of each holds words of its refusal."""

import numpy as np


def the_library(A, B):
    """library's own product"""
    return A @ B


def the_library_by_another_name(A, B):
    """library's own product"""
    return np.einsum("ij,jk", A, B)


def elements_times_elements(A, B):
    """raised"""
    return A * B


def square_only(A, B):
    """the result has the shape"""
    n = A.shape[0]
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for p in range(A.shape[1]):
                D[i, j] += A[i, p] * B[p, min(j, B.shape[1] - 1)]
    return D


def overwrites(A, B):
    """it should be"""
    D = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for p in range(A.shape[1]):
                D[i, j] = A[i, p] * B[p, j]
    return D


def misses_the_last(A, B):
    """it should be"""
    D = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for p in range(max(1, A.shape[1] - 1)):
                D[i, j] += A[i, p] * B[p, j]
    return D


def forgets_return(A, B):
    """returned nothing"""
    D = np.zeros((A.shape[0], B.shape[1]))
    D[0, 0] = 1
