def copy_wavefronts(places):
    kinds = set()
    for chunk, place in enumerate(places):
        other = places[chunk ^ 1]  # where the other half of the sector goes
        whole = place // 2 == other // 2
        part = "whole" if whole else "lower half" if chunk % 2 == 0 else "upper half"
        kinds.add((place // 8, part))
    return len(kinds)
