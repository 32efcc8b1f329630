"""Wrong answers to 04_wide. The docstring of each holds words of its refusal."""


def _fullest(words):
    asked = {}
    for word in words:
        asked.setdefault(word % 32, set()).add(word)
    return max(map(len, asked.values()))


def _words(addresses, width):
    return [word for address in addresses for word in range(address // 4, (address + width) // 4)]


def without_groups(addresses, width):
    """returned 1; expected 4. In each of the four groups"""
    return _fullest(_words(addresses, width))


def the_slowest_group(addresses, width):
    """returned 1; expected 2. Two groups of 16 lanes"""
    lanes = 128 // width
    return max(_fullest(_words(addresses[i : i + lanes], width)) for i in range(0, 32, lanes))


def lanes_dealt_out(addresses, width):
    """returned 4; expected 2. Two groups of 16 lanes"""
    count = width // 4
    return sum(_fullest(_words(addresses[i::count], width)) for i in range(count))


def eight_lanes_always(addresses, width):
    """returned 4; expected 1. With 4 bytes a lane there is one group"""
    return sum(_fullest(_words(addresses[i : i + 8], width)) for i in range(0, 32, 8))


def the_ideal(addresses, width):
    """returned 4; expected 32. In each group, eight lanes"""
    return width // 4


def counts_the_same_word_twice(addresses, width):
    """returned 32; expected 4"""
    lanes, total = 128 // width, 0
    for first in range(0, 32, lanes):
        banks = [word % 32 for word in _words(addresses[first : first + lanes], width)]
        total += max(banks.count(bank) for bank in banks)
    return total
