def kernel_wavefronts(n):
    tile_a = 256 * 64 * 2 // 128  # wavefronts without a conflict: bytes / 128
    tile_b = 64 * 128 * 2 // 128
    step = tile_a + tile_b + 8 * (2 * tile_a + 4 * tile_b)
    blocks = (n // 256) * (n // 128)
    return blocks * (n // 64) * step
