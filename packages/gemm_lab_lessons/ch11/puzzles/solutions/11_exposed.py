def exposed(k_tiles, cycles, epilogue, turns):
    return max(0, epilogue - k_tiles * cycles) if turns else epilogue
