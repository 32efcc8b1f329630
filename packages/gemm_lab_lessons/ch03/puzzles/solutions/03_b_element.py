def b_element(lane, register, half):
    return lane % 4 * 2 + half + register * 8, lane // 4
