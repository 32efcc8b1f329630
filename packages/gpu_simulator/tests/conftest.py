"""Fixtures for all tests of the simulator, and the marker for tests with many cases.

`@pytest.mark.sampled(every=8)` keeps the first case of a parametrized test and every eighth after it; the others are
marked `long`.
"""

import signal
from collections import defaultdict

import compiling
import numpy as np
import pytest

import gpu_simulator

# A shell that starts the tests in the background makes them ignore interrupts; restore the default.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects tests
def pytest_collection_modifyitems(items):
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("long"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        options = found[0].get_closest_marker("sampled").kwargs
        sample = found[options.get("first", 0) :: options["every"]] or found[:1]
        for item in found:
            if item not in sample:
                item.add_marker(pytest.mark.long)


@pytest.fixture
def cuda():
    """cuda(source, *args, grid, block, arch, **options): compile `kernel` and launch it; returns the Report."""

    def run(source, *args, grid=1, block=32, arch="sm_80", entry="kernel", **options):
        compiled = compiling.compile(source, arch=arch, name="kernel.cu", entry=entry)
        return gpu_simulator.launch(compiled, entry, grid, block, args, **options)

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(7)
