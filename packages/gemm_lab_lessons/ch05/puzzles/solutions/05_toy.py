def swizzle(row, column):
    return column ^ row
