"""Wrong answers to 11_exposed. The docstring of each holds words of its refusal."""


def zero(k_tiles, cycles, epilogue, turns):
    """The products of a tile take"""
    return 0


def turns_hide_everything(k_tiles, cycles, epilogue, turns):
    """The products of a tile take 512 cycles"""
    return 0 if turns else epilogue


def less_than_nothing(k_tiles, cycles, epilogue, turns):
    """The products of a tile take"""
    return (epilogue - k_tiles * cycles) / 2 if turns else epilogue


def one_k_tile(k_tiles, cycles, epilogue, turns):
    """The products of a tile take"""
    return max(0, epilogue - cycles) / 2 if turns else epilogue


def a_gap_for_each_tile(k_tiles, cycles, epilogue, turns):
    """Both consumers may store at the same time."""
    return max(0, epilogue - k_tiles * cycles) if turns else epilogue
