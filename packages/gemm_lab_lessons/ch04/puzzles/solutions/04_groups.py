def groups(width):
    lanes = 128 // width
    return [list(range(first, first + lanes)) for first in range(0, 32, lanes)]
