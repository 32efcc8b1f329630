def reads(rows, cols):
    return (rows + cols) / (rows * cols)
