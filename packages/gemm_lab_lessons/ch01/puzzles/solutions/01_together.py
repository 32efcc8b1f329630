def together(dram, l2, hits):
    if hits == 1:
        return l2
    return min(l2, dram / (1 - hits))
