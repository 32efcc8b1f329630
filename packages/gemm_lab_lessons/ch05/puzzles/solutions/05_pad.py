def padding(row_bytes):
    chunks = row_bytes // 16
    return 16 if chunks % 2 == 0 else 0
