def falls(before, after):
    return max(before, key=lambda state: before[state] - after[state])
