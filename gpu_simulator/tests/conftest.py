"""For all tests of the simulator: CUDA text to a launch, and how many cases of a sweep are quick.

`@pytest.mark.sampled(every=8)` stands above a test with many cases: the first of them and every eighth after it run, and
the others are `long`.
"""

import signal
from collections import defaultdict

import compiling
import numpy as np
import pytest

import gpu_simulator

# An interrupt interrupts, also where a shell started the tests in the background and had it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects
def pytest_collection_modifyitems(items):
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
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
