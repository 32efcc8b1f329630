"""Wrong answers to 02_pieces. The docstring of each holds words of its refusal."""


def every_address(addresses, size):
    """returned 8; expected 1"""
    return len(set(addresses))


def from_the_first_to_the_last(addresses, size):
    """returned 1; expected 2. These bytes lie in the pieces 0, 1"""
    return (max(addresses) - min(addresses)) // size + 1


def changes_only(addresses, size):
    """returned 3; expected 2. These bytes lie in the pieces 0, 16"""
    found, last = 0, None
    for address in addresses:
        if address // size != last:
            found, last = found + 1, address // size
    return found


def with_the_remainder(addresses, size):
    """returned 8; expected 1"""
    return len({address / size for address in addresses})


def always_64(addresses, size):
    """128) returned 2; expected 1"""
    return len({address // 64 for address in addresses})
