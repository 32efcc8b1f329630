def blocks(registers, threads):
    of_a_warp = 32 * (-(-registers // 8) * 8)
    warps = 4 * (16_384 // of_a_warp)
    return warps // (threads // 32)
