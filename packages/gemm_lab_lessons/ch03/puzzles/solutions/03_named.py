def named(lane):
    return lane % 16, lane // 16 * 8
