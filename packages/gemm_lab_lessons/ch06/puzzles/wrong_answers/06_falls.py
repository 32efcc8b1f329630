"""Wrong answers to 06_falls. The docstring of each holds words of its refusal."""


def the_longest_wait(before, after):
    """goes from"""
    return max(before, key=before.get)


def the_shortest_wait_now(before, after):
    """expected"""
    return min(after, key=after.get)


def the_largest_quotient(before, after):
    """expected"""
    return max(before, key=lambda state: before[state] / (after[state] or 0.001))


def what_grew(before, after):
    """expected 'long scoreboard'"""
    return max(before, key=lambda state: after[state] - before[state])


def moved_most_either_way(before, after):
    """expected"""
    return max(before, key=lambda state: abs(before[state] - after[state]))


def how_much(before, after):
    """expected 'long scoreboard'"""
    return max(before[state] - after[state] for state in before)
