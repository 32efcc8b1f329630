"""Wrong answers to 00_sectors. The docstring of each holds words of its refusal."""


def counts_addresses(addresses):
    """returned 32; expected 4"""
    return len(addresses)


def span_divided(addresses):
    """one below the other"""
    return (max(addresses) - min(addresses)) // 32 + 1


def four_bytes_each(addresses):
    """one below the other"""
    return -(-4 * len(addresses) // 32)


def neighbours_only(addresses):
    """expected"""
    numbers = [address // 32 for address in addresses]
    return 1 + sum(mine != before for before, mine in zip(numbers, numbers[1:], strict=False))


def from_the_first_address(addresses):
    """begin at byte 16"""
    return len({(address - addresses[0]) // 32 for address in addresses})
