def room(bm, bn, bk, stages):
    return stages * (bm * bk + bk * bn) * 2, bm * bn * 4
