def quantise(x):
    import ml_dtypes
    import numpy as np

    tiles = x.reshape(x.shape[0], -1, 128)
    largest = np.abs(tiles).max(2)
    scale = np.where(largest > 0, largest / 448, 1).astype(np.float32)
    q = (tiles / scale[:, :, None]).astype(ml_dtypes.float8_e4m3fn)
    return q.reshape(x.shape), scale.T
