def clock_mhz(first, last):
    return 1000 * (last[0] - first[0]) / (last[1] - first[1])
