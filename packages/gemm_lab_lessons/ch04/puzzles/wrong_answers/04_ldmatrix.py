"""Wrong answers to 04_ldmatrix. The docstring of each holds words of its refusal."""


def _fullest(words):
    asked = {}
    for word in words:
        asked.setdefault(word % 32, set()).add(word)
    return max(map(len, asked.values()))


def always_four_matrices(rows):
    """IndexError"""
    total = 0
    for matrix in range(4):
        total += _fullest([rows[8 * matrix + i] // 4 + j for i in range(8) for j in range(4)])
    return total


def one_matrix(rows):
    """returned 1; expected 2. The eight rows of each of the two matrices"""
    return _fullest([row // 4 + j for row in rows for j in range(4)])


def never_a_conflict(rows):
    """returned 1; expected 8. The eight rows all ask the banks 0 to 3"""
    return len(rows) // 8


def by_the_stride(rows):
    """an H200 took 1 wavefront for them"""
    step = (rows[1] - rows[0]) // 16
    return len(rows) // 8 * (1 if step == 0 else min(8, step & -step))
