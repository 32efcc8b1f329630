def d_element(lane, number):
    return lane // 4 + number // 2 * 8, lane % 4 * 2 + number % 2
