def ldmatrix_wavefronts(rows):
    total = 0
    for first in range(0, len(rows), 8):  # a matrix is a group
        asked = {}
        for address in rows[first : first + 8]:
            for word in range(address // 4, address // 4 + 4):
                asked.setdefault(word % 32, set()).add(word)
        total += max(len(words) for words in asked.values())
    return total
