"""Settings for all tests: interrupts, and sampling of tests with many cases.

With `@pytest.mark.sampled(every=8)`, `make test` runs the first case of a test and every eighth after it. The others
are marked `long`, so `make test-all` runs them as well. `first=3` begins with the fourth case, so that several tests
with the same cases can sample different ones. Cases that are `long` anyway are not counted. A single case that is
named on the command line always runs.
"""

import gc
import os
import signal
import sys
from collections import defaultdict

import pytest

# nbformat imports jsonschema, whose checks of internationalized addresses import this package, which builds 38 parsers
# and takes three seconds in each process. No notebook needs these checks, and jsonschema does without the package.
sys.modules.setdefault("rfc3987_syntax", None)


@pytest.fixture(autouse=True, scope="session")
def state_of_the_tests(tmp_path_factory):
    """A state folder of their own: an exercise that a test solves is not one that the developer has solved."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    yield
    del os.environ["XDG_STATE_HOME"]
    if before is not None:
        os.environ["XDG_STATE_HOME"] = before


# A shell that starts the tests in the background makes them ignore interrupts; this undoes it.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Collection makes a million objects that live until the end, and no garbage: it is quicker without the garbage
# collector, which need not look at these objects afterwards either.
@pytest.hookimpl(wrapper=True)
def pytest_collection():
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects tests
def pytest_collection_modifyitems(items):
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("long"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        sample = quick(found, **found[0].get_closest_marker("sampled").kwargs)
        for item in found:
            if item not in sample:
                item.add_marker(pytest.mark.long)


def quick(cases, *, every, first=0):
    """The cases in the sample; at least one."""
    return cases[first::every] or cases[:1]
