"""Wrong answers to 02_thread_tiles. The docstring of each holds words of its refusal."""


def element_by_element(aw, bw, d, TM, TN):
    """48 elements of A were loaded into registers, and 24 are enough. One column and one row serve"""
    for i in range(aw.rows):
        for j in range(bw.cols):
            for k in range(aw.cols):
                d[i, j] += aw[i, k] * bw[k, j]


def loads_for_every_row(aw, bw, d, TM, TN):
    """48 elements of A were loaded into registers, and 24 are enough"""
    for it in range(0, aw.rows, TM):
        for jt in range(0, bw.cols, TN):
            for kt in range(aw.cols):
                for i in range(TM):
                    column, row = aw[it : it + TM, kt], bw[kt, jt : jt + TN]
                    for j in range(TN):
                        d[it + i, jt + j] += column[i, 0] * row[0, j]


def all_k_at_once(aw, bw, d, TM, TN):
    """An outer product takes one column of A and one row of B"""
    for it in range(0, aw.rows, TM):
        for jt in range(0, bw.cols, TN):
            d[it : it + TM, jt : jt + TN] += aw[it : it + TM, 0 : aw.cols] * bw[0 : bw.rows, jt : jt + TN]


def first_row_always(aw, bw, d, TM, TN):
    """column 4 of A was multiplied by row 3 of B"""
    for it in range(0, aw.rows, TM):
        for jt in range(0, bw.cols, TN):
            for kt in range(aw.cols):
                d[it : it + TM, jt : jt + TN] += aw[it : it + TM, kt] * bw[0, jt : jt + TN]


def only_one_thread(aw, bw, d, TM, TN):
    """For 4 × 4 with k = 3, d[0, 2] was 2 and is now 2; expected -3."""
    for kt in range(aw.cols):
        d[0:TM, 0:TN] += aw[0:TM, kt] * bw[kt, 0:TN]


def whole_slices(aw, bw, d, TM, TN):
    """12 elements of A were loaded into registers, and these loops take 24"""
    for kt in range(aw.cols):
        d += aw[0 : aw.rows, kt] * bw[kt, 0 : bw.cols]
