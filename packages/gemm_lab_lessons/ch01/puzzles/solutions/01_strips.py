def strips(tiles):
    rows = {row for row, column in tiles}
    columns = {column for row, column in tiles}
    return len(rows) + len(columns)
