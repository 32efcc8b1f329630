def unswizzle(row, place):
    return place ^ row
