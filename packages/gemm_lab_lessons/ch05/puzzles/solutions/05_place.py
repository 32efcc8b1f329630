def place(row, column, columns, pad):
    return row * (columns + pad) + column
