def thread_tiles(aw, bw, d, TM, TN):
    for it in range(0, aw.rows, TM):
        for jt in range(0, bw.cols, TN):
            for kt in range(aw.cols):
                column = aw[it : it + TM, kt : kt + 1]
                row = bw[kt : kt + 1, jt : jt + TN]
                d[it : it + TM, jt : jt + TN] += column * row
