def place(lane):
    return lane // 16 * 16, lane % 16
