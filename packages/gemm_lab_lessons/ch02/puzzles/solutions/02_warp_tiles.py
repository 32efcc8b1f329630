def warp_tiles(a, b, d, WM, WN, WK):
    for iw in range(0, a.rows, WM):
        for jw in range(0, b.cols, WN):
            for kw in range(0, a.cols, WK):
                aw = a[iw : iw + WM, kw : kw + WK]
                bw = b[kw : kw + WK, jw : jw + WN]
                for ii in range(WM):
                    for jj in range(WN):
                        for kk in range(WK):
                            d[iw + ii, jw + jj] += aw[ii, kk] * bw[kk, jj]
