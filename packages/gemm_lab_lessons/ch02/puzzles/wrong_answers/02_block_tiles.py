"""Wrong answers to 02_block_tiles. The docstring of each holds words of its refusal."""

import numpy as np


def reads_the_matrices(A, B, D, BM, BN, BK):
    """256 elements of A were read from DRAM, and 128 are enough. A slice copies a whole tile"""
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                for ii in range(BM):
                    for kk in range(BK):
                        a = A[i + ii, k + kk]
                        for jj in range(BN // 2):
                            d[ii, jj] += a * B[k + kk, j + jj]
                        a = A[i + ii, k + kk]
                        for jj in range(BN // 2, BN):
                            d[ii, jj] += a * B[k + kk, j + jj]
            D[i : i + BM, j : j + BN] = d


def copies_for_every_row(A, B, D, BM, BN, BK):
    """512 elements of A were read from DRAM, and 128 are enough"""
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                for ii in range(BM):
                    a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                    for jj in range(BN):
                        for kk in range(BK):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d


def all_of_k_at_once(A, B, D, BM, BN, BK):
    """A tile of A with 32 elements was copied into shared memory; it should be BM × BK = 4 × 4"""
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            a, b = A[i : i + BM, 0 : A.cols], B[0 : B.rows, j : j + BN]
            for ii in range(BM):
                for jj in range(BN):
                    for kk in range(A.cols):
                        d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d


def sums_begin_anew_for_every_k(A, B, D, BM, BN, BK):
    """D is 8 × 8, with k = 8. D[0, 0] is"""
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                d = np.zeros((BM, BN), int)
                for ii in range(BM):
                    for jj in range(BN):
                        for kk in range(BK):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d


def partial_sums_in_dram(A, B, D, BM, BN, BK):
    """128 elements of D were read from DRAM, and 0 are enough"""
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                d = np.zeros((BM, BN), int)
                for ii in range(BM):
                    for jj in range(BN):
                        for kk in range(BK):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
                D[i : i + BM, j : j + BN] += d


def indices_of_the_matrix_in_a_tile(A, B, D, BM, BN, BK):
    """There is no B[0, 4]: this tile of B has columns 0 to 3, counted from its own corner"""
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                for ii in range(BM):
                    for jj in range(BN):
                        for kk in range(BK):
                            d[ii, jj] += a[ii, kk] * b[kk, j + jj]
            D[i : i + BM, j : j + BN] = d


def square_tiles_only(A, B, D, BM, BN, BK):
    """A tile of A with 16 elements was copied into shared memory; it should be BM × BK = 4 × 3"""
    BK = BN = BM
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                for ii in range(BM):
                    for jj in range(BN):
                        for kk in range(a.cols):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d
