"""Wrong answers to 05_unswizzle. The docstring of each holds words of its refusal."""


def subtracts(row, place):
    """returned -1; expected 0"""
    return place - row - 1


def difference(row, place):
    """(1, 0) returned -1; expected 1"""
    return place - row


def rotates_back(row, place):
    """returned 3; expected 1"""
    return (place - row) % 4


def only_four(row, place):
    """returned"""
    return (place ^ row) % 4


def without_the_row(row, place):
    """expected"""
    return place


def by_search(row, place):
    """returned nothing"""
    for column in range(4):
        if column ^ row == place:
            return column
