def turn(i, stages):
    used = i // stages
    return i % stages, used % 2, (used + 1) % 2
