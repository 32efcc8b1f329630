"""Runs kernels that clang compiles, also where NVRTC is installed."""

import numpy as np

import gpu_simulator


def simulate(source, *args, **options):
    """`gpu_simulator.simulate` with clang."""
    return gpu_simulator.simulate(source, *args, using="clang", **options)


def run(body, *args, heads="", parameters="float* o, float* x", block=32, grid=1, arch="sm_80"):
    """Run a kernel of this body, in which i is the thread, and look for hazards."""
    source = f"{heads}\n__global__ void k({parameters}) {{\n  int i = threadIdx.x;\n  {body}\n}}\n"
    return simulate(source, "k", grid, block, args, arch=arch, observers=("hazards",))


def result(body, dtype, *args, count=32, **options):
    """What the kernel writes to o; there must be no hazard."""
    o = np.zeros(count, dtype)
    assert not run(body, o, *args, **options).hazards
    return o
