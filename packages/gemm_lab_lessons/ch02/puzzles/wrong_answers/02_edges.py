"""Wrong answers to 02_edges. The docstring of each holds words of its refusal."""

import numpy as np


def multiples_only(A, B, D, BM, BN, BK):
    """There is no A[1, 0]: this tile of A has rows 0 to 0"""
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                for ii in range(BM):
                    for jj in range(BN):
                        for kk in range(BK):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d


def stores_whole_tiles(A, B, D, BM, BN, BK):
    """takes 1 × 4 sums, and was given 4 × 4"""
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                for ii in range(a.rows):
                    for jj in range(b.cols):
                        for kk in range(a.cols):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d


def leaves_the_rest_out(A, B, D, BM, BN, BK):
    """D[8, 0] was never stored"""
    for i in range(0, D.rows - BM + 1, BM):
        for j in range(0, D.cols - BN + 1, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                for ii in range(a.rows):
                    for jj in range(b.cols):
                        for kk in range(a.cols):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d


def cuts_k_short(A, B, D, BM, BN, BK):
    """D is 8 × 8, with k = 9"""
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            rows, cols = min(BM, D.rows - i), min(BN, D.cols - j)
            d = np.zeros((rows, cols), int)
            for k in range(0, A.cols - BK + 1, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                for ii in range(rows):
                    for jj in range(cols):
                        for kk in range(BK):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d


def tiles_of_one(A, B, D, BM, BN, BK):
    """4,096 elements of A were read from DRAM, and 256 are enough. Each tile is copied once"""
    for i in range(D.rows):
        for j in range(D.cols):
            D[i, j] = sum(A[i, k] * B[k, j] for k in range(A.cols))
