"""Wrong answers to 04_wavefronts. The docstring of each holds words of its refusal."""


def counts_lanes(addresses):
    """returned 32; expected 1. All lanes ask for the same word"""
    banks = [address // 4 % 32 for address in addresses]
    return max(banks.count(bank) for bank in banks)


def counts_banks(addresses):
    """returned 32; expected 1. Each bank is asked for one word"""
    return len({address // 4 % 32 for address in addresses})


def counts_words(addresses):
    """returned 2; expected 1"""
    return -(-len(set(addresses)) // 16)


def only_the_first_bank(addresses):
    """an H200 took"""
    return max(1, len({address for address in addresses if address // 4 % 32 == addresses[0] // 4 % 32}))


def for_whole_warps(addresses):
    """for_whole_warps([20]) raised IndexError"""
    asked = {}
    for lane in range(32):
        word = addresses[lane] // 4
        asked.setdefault(word % 32, set()).add(word)
    return max(map(len, asked.values()))


def by_table(addresses):
    """an H200 took"""
    return {4: 1, 8: 2, 128: 32, 0: 1, 256: 4}.get(addresses[1] - addresses[0], 1)


def no_answer(addresses):
    """returned nothing; end it with return"""
    len(addresses)
