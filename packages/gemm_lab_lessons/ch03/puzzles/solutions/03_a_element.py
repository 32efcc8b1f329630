def a_element(lane, register, half):
    return lane // 4 + register % 2 * 8, lane % 4 * 2 + half + register // 2 * 8
