"""For all tests: interrupts, and how many cases of a large sweep are quick.

`@pytest.mark.sampled(every=8)` stands above a test with many cases: `make test` runs the first of them and every eighth
after it, and the others are `long`, so that `make test-all` runs them all. `first=3` begins with the fourth case: where
several tests sweep over the same cases, each can begin with another one. A case that alone is named on the command line
runs in any case.
"""

import signal
from collections import defaultdict

import pytest

# An interrupt interrupts, also where a shell started the tests in the background and had it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects
def pytest_collection_modifyitems(items):
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        sample = quick(found, **found[0].get_closest_marker("sampled").kwargs)
        for item in found:
            if item not in sample:
                item.add_marker(pytest.mark.long)


def quick(cases, *, every, first=0):
    """The cases that stay in the sample: one at least."""
    return cases[first::every] or cases[:1]
