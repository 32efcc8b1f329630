"""The two calls that CuPy does not offer, through `cuda.bindings`: a launch with a cluster, a variable's size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuda.bindings import driver


def cluster_launch(
    function: int, grid: Sequence[int], threads: int, dynamic_smem: int, cluster: Sequence[int], pointers: int
) -> Callable[[], int]:
    """A callable that starts `function` once in the default stream and returns the driver's status, 0 for success.

    `pointers` is the address of an array of addresses, one per argument, which the driver reads at each launch.
    """
    attribute, config = driver.CUlaunchAttribute(), driver.CUlaunchConfig()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    size = attribute.value.clusterDim
    size.x, size.y, size.z = cluster
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
    config.sharedMemBytes, config.attrs, config.numAttrs = dynamic_smem, [attribute], 1
    return lambda: int(driver.cuLaunchKernelEx(config, function, pointers, 0)[0])


def variable(module: int, name: str) -> tuple[int, int] | None:
    """(address, bytes) of a `__device__` variable; None if the module has none of this name."""
    status, address, size = driver.cuModuleGetGlobal(module, name.encode())
    return None if int(status) else (int(address), int(size))
