"""Wrong answers to 11_order. The docstring of each holds words of its refusal."""


def nothing():
    """Return a list with each of"""
    return []


def products_before_the_bytes():
    """In this order, with five k tiles and two stages"""
    return ["multiply", "wait", "drain", "barrier", "copy"]


def barrier_before_the_drain():
    """nothing tells that it has read it"""
    return ["wait", "multiply", "barrier", "drain", "copy"]


def copy_before_the_barrier():
    """nothing tells that it has read it"""
    return ["wait", "multiply", "drain", "copy", "barrier"]


def copy_as_early_as_it_can_be():
    """In this order, with five k tiles and two stages"""
    return ["copy", "wait", "multiply", "drain", "barrier"]
