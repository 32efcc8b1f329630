def wide_wavefronts(addresses, width):
    lanes = 128 // width  # of a group
    total = 0
    for first in range(0, 32, lanes):
        asked = {}  # bank: the different words that this group asks it for
        for address in addresses[first : first + lanes]:
            for word in range(address // 4, (address + width) // 4):
                asked.setdefault(word % 32, set()).add(word)
        total += max(len(words) for words in asked.values())
    return total
