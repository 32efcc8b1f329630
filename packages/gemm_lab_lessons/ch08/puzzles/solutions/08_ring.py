def ring(k_tile, stages):
    turn, stage = divmod(k_tile, stages)
    return stage, turn % 2, (turn + 1) % 2
