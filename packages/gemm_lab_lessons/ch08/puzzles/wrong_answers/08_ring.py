"""Wrong answers to 08_ring. The docstring of each holds words of its refusal."""


def parity_of_the_tile(k_tile, stages):
    """k tile 1 is in round 0, in stage 1. Phase 0 of full brings it"""
    return k_tile % stages, k_tile % 2, (k_tile + 1) % 2


def both_sides_alike(k_tile, stages):
    """(0, 0, 0); expected (0, 0, 1)"""
    return k_tile % stages, k_tile // stages % 2, k_tile // stages % 2


def phases(k_tile, stages):
    """expected"""
    return k_tile % stages, k_tile // stages, max(k_tile // stages - 1, 1)


def two_rounds_ago(k_tile, stages):
    """a fresh barrier lets parity 1 pass"""
    return k_tile % stages, k_tile // stages % 2, k_tile // stages % 2 if k_tile >= stages else 0


def the_round_as_stage(k_tile, stages):
    """expected"""
    return k_tile // stages, k_tile % stages % 2, (k_tile % stages + 1) % 2
