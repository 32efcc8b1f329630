"""Wrong answers to 02_warp_tiles. The docstring of each holds words of its refusal."""

import numpy as np


def without_slices(a, b, d, WM, WN, WK):
    """64 elements of A's tiles were read from shared memory, and 32 are enough. Cut both slices once"""
    for ii in range(a.rows):
        for jj in range(b.cols):
            for kk in range(a.cols):
                d[ii, jj] += a[ii, kk] * b[kk, jj]


def sums_of_the_first_warp(a, b, d, WM, WN, WK):
    """d[0, 0] was 0 and is now -4; expected -19."""
    for iw in range(0, a.rows, WM):
        for jw in range(0, b.cols, WN):
            for kw in range(0, a.cols, WK):
                aw, bw = a[iw : iw + WM, kw : kw + WK], b[kw : kw + WK, jw : jw + WN]
                for ii in range(WM):
                    for jj in range(WN):
                        for kk in range(WK):
                            d[ii, jj] += aw[ii, kk] * bw[kk, jj]


def forgets_what_was_there(a, b, d, WM, WN, WK):
    """What was in d before belongs to the sum"""
    d[:] = 0
    for iw in range(0, a.rows, WM):
        for jw in range(0, b.cols, WN):
            for kw in range(0, a.cols, WK):
                aw, bw = a[iw : iw + WM, kw : kw + WK], b[kw : kw + WK, jw : jw + WN]
                for ii in range(WM):
                    for jj in range(WN):
                        for kk in range(WK):
                            d[iw + ii, jw + jj] += aw[ii, kk] * bw[kk, jj]


def a_d_of_its_own(a, b, d, WM, WN, WK):
    """d was not changed"""
    d = np.zeros((a.rows, b.cols), int)
    for iw in range(0, a.rows, WM):
        for jw in range(0, b.cols, WN):
            for kw in range(0, a.cols, WK):
                aw, bw = a[iw : iw + WM, kw : kw + WK], b[kw : kw + WK, jw : jw + WN]
                for ii in range(WM):
                    for jj in range(WN):
                        for kk in range(WK):
                            d[iw + ii, jw + jj] += aw[ii, kk] * bw[kk, jj]


def the_same_k_of_b(a, b, d, WM, WN, WK):
    """In a product the column of A is the row of B"""
    for iw in range(0, a.rows, WM):
        for jw in range(0, b.cols, WN):
            for kw in range(0, a.cols, WK):
                aw, bw = a[iw : iw + WM, kw : kw + WK], b[0:WK, jw : jw + WN]
                for ii in range(WM):
                    for jj in range(WN):
                        for kk in range(WK):
                            d[iw + ii, jw + jj] += aw[ii, kk] * bw[kk, jj]


def slices_for_every_row(a, b, d, WM, WN, WK):
    """64 elements of A's tiles were read from shared memory, and 32 are enough"""
    for iw in range(0, a.rows, WM):
        for jw in range(0, b.cols, WN):
            for kw in range(0, a.cols, WK):
                for ii in range(WM):
                    aw, bw = a[iw : iw + WM, kw : kw + WK], b[kw : kw + WK, jw : jw + WN]
                    for jj in range(WN):
                        for kk in range(WK):
                            d[iw + ii, jw + jj] += aw[ii, kk] * bw[kk, jj]
