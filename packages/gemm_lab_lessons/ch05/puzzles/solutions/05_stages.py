def stages(room, rows, row_bytes, pad_bytes):
    return room // (rows * (row_bytes + pad_bytes))
