"""Makes driver calls that CuPy does not offer, through `cuda.bindings`: clusters, sizes of variables, tensor maps."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from gpu_simulator.hardware.tensor_map import TensorMap, TensorMapError

_TYPES = {
    "u8": "UINT8", "s8": "UINT8", "e4m3": "UINT8", "e5m2": "UINT8", "u16": "UINT16", "f16": "FLOAT16",
    "bf16": "BFLOAT16", "u32": "UINT32", "s32": "INT32", "f32": "FLOAT32", "tf32": "TFLOAT32", "u64": "UINT64",
    "s64": "INT64", "f64": "FLOAT64",
}  # fmt: skip


class _Driver:
    """`cuda.bindings.driver`, imported at its first use: only a machine with a GPU needs it."""

    def __getattr__(self, name: str) -> Any:
        from cuda.bindings import driver

        return getattr(driver, name)


driver: Any = _Driver()


def cluster_launch(
    function: int,
    grid: Sequence[int],
    threads: int,
    dynamic_smem: int,
    cluster: Sequence[int],
    pointers: int,
    stream: int = 0,
) -> Callable[[], int]:
    """A callable that launches `function` once and returns the driver's status, 0 for success.

    `grid` and `cluster` are numbers of blocks in x, y and z, `threads` is the size of a block, `dynamic_smem` is in
    bytes. `pointers` is the address of an array of addresses, one per argument, which the driver reads at each launch.
    `stream` is 0 for the default stream.
    """
    attribute, config = driver.CUlaunchAttribute(), driver.CUlaunchConfig()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    size = attribute.value.clusterDim
    size.x, size.y, size.z = cluster
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
    config.hStream = driver.CUstream(stream)
    config.sharedMemBytes, config.attrs, config.numAttrs = dynamic_smem, [attribute], 1
    return lambda: int(driver.cuLaunchKernelEx(config, function, pointers, 0)[0])


def encode(map_: TensorMap, address: int) -> bytes:
    """The 128 bytes of the driver's CUtensorMap for a tensor at a device address.

    Raises `TensorMapError` if the driver refuses the map.
    """

    def named(kind: str, name: str):
        return getattr(getattr(driver, f"CUtensorMap{kind}"), f"CU_TENSOR_MAP_{name}")

    promotion = f"L2_{map_.l2_promotion}B" if map_.l2_promotion else "NONE"
    status, found = driver.cuTensorMapEncodeTiled(
        named("DataType", f"DATA_TYPE_{_TYPES[map_.element]}"),
        map_.rank,
        address,
        [driver.cuuint64_t(size) for size in map_.sizes],
        [driver.cuuint64_t(stride) for stride in map_.strides or (16,)],  # in one dimension the driver reads none
        [driver.cuuint32_t(size) for size in map_.box],
        [driver.cuuint32_t(step) for step in map_.element_strides],
        named("Interleave", "INTERLEAVE_NONE"),
        named("Swizzle", f"SWIZZLE_{map_.swizzle}B" if map_.swizzle else "SWIZZLE_NONE"),
        named("L2promotion", f"L2_PROMOTION_{promotion}"),
        named("FloatOOBfill", f"FLOAT_OOB_FILL_{'NAN_REQUEST_ZERO_FMA' if map_.fill == 'nan' else 'NONE'}"),
    )
    if int(status):
        raise TensorMapError(f"The driver refused the tensor map {map_} (CUDA error {int(status)}).")
    return struct.pack("<16Q", *(int(word) for word in found.opaque))
