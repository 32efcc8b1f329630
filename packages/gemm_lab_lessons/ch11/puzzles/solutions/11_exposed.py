def exposed(k_tiles, cycles, epilogue, turns):
    return max(0, epilogue - k_tiles * cycles) / 2 if turns else epilogue  # two tiles share a gap
