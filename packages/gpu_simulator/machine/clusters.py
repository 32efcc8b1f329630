"""How the blocks of a grid form clusters, and how an address refers to the shared memory of another block.

A shared address has the rank of its block in bits 24 and up: machine code for sm_90 and later computes the address of a
shared variable as `%cluster_ctarank << 24 | offset`, and kernels rely on it (they clear bit 24 to get the address in
the even block of a pair). PTX ISA, "Cluster of Cooperative Thread Arrays" and "mapa".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.faults import LaunchError
from gpu_simulator.ptx.demangle import source_name

RANK_SHIFT = 24  # of the rank in a shared address
RANK_BITS = 15  # a cluster has 16 blocks at most
OFFSET_MASK = (1 << RANK_SHIFT) - 1
PORTABLE, LARGEST = 8, 16  # most blocks of a cluster: on every GPU with clusters, and with the non-portable attribute
FIRST_TARGET = 90  # sm_90, the first that has clusters


class Clusters:
    """The clusters of one launch. A block's *place* is its number if blocks are counted cluster by cluster, by rank.

    shape: blocks of a cluster in x, y, z.   size: blocks of a cluster.   explicit: whether the kernel or its launch
    gives a shape.
    """

    def __init__(self, grid: tuple[int, int, int], shape: tuple[int, int, int], explicit: bool):
        self.grid, self.shape, self.explicit = grid, shape, explicit
        self.size = shape[0] * shape[1] * shape[2]
        self.numbers = None if self.size == 1 else _by_cluster(grid, shape)

    def block(self, place):
        """The number in the grid (x fastest) of the block at a place; for an array of places, an array."""
        return place if self.numbers is None else self.numbers[place]

    def place(self, block: int) -> int:
        """The place of a block, given by its number in the grid."""
        return block if self.numbers is None else int(np.flatnonzero(self.numbers == block)[0])

    def special(self, name: str, ctaid: dict):
        """A special register of clusters. ctaid: "x", "y", "z" -> the block's coordinate, an array or a scalar."""
        axis = "xyz".find(name[-1]) if name[-2] == "_" else 0
        extent, own, u4 = self.shape[axis], ctaid["xyz"[axis]], np.uint32
        values = {
            "cluster_ctaid": lambda: own % u4(extent),
            "clusterid": lambda: own // u4(extent),
            "cluster_nctaid": lambda: u4(extent),
            "nclusterid": lambda: u4(self.grid[axis] // extent),
            "cluster_nctarank": lambda: u4(self.size),
            "is_explicit_cluster": lambda: np.bool_(self.explicit),
            "cluster_ctarank": lambda: self.rank(ctaid),
        }
        return values[name if name in values else name[:-2]]()

    def rank(self, ctaid: dict):
        x, y, z = (ctaid[axis] % np.uint32(extent) for axis, extent in zip("xyz", self.shape, strict=True))
        return x + np.uint32(self.shape[0]) * (y + np.uint32(self.shape[1]) * z)


def _by_cluster(grid, shape) -> np.ndarray:
    """Numbers of the blocks (x fastest) in the order of their places."""
    (gx, gy, gz), (x, y, z) = grid, shape
    numbers = np.arange(gx * gy * gz).reshape(gz // z, z, gy // y, y, gx // x, x)
    return np.ascontiguousarray(numbers.transpose(0, 2, 4, 1, 3, 5)).reshape(-1)


SPECIALS = ("cluster_ctaid", "cluster_nctaid", "clusterid", "nclusterid", "cluster_ctarank", "cluster_nctarank",
            "is_explicit_cluster")  # fmt: skip


def clusters_of(module, entry: str, grid, given) -> Clusters:
    """The clusters of a launch of the kernel `entry`. given: the shape that it asks for, (1, 1, 1) for none.

    Raises `LaunchError` for shapes that the kernel or a GPU does not allow.
    """
    function = module.functions[entry]
    shape, wanted = tuple(given), function.cluster
    explicit = wanted is not None or function.explicit_cluster or shape != (1, 1, 1)
    if wanted is not None:
        if shape not in ((1, 1, 1), wanted):
            raise LaunchError(
                f"{source_name(function.name)} was compiled for clusters of {_shape(wanted)} (__cluster_dims__), but "
                f"the launch names {_shape(shape)}."
            )
        shape = wanted
    size = shape[0] * shape[1] * shape[2]
    if size == 1:
        return Clusters(grid, (1, 1, 1), explicit)
    if 0 < module.capability < FIRST_TARGET:
        name = module.target.split(",")[0]
        raise LaunchError(f"Clusters exist from sm_90 on; {source_name(function.name)} was compiled for {name}.")
    if size > LARGEST:
        raise LaunchError(
            f"A cluster of {_shape(shape)} has {size} blocks. Up to {PORTABLE} run on every GPU with "
            f"clusters, up to {LARGEST} on some."
        )
    most = function.max_cluster_rank
    if most is not None and size > most:
        raise LaunchError(
            f"A cluster of {_shape(shape)} has {size} blocks, more than the {most} that {function.name} "
            "was compiled for (.maxclusterrank)."
        )
    if any(extent % step for extent, step in zip(grid, shape, strict=True)):
        near = tuple(-(-extent // step) * step for extent, step in zip(grid, shape, strict=True))
        raise LaunchError(
            f"The grid {_shape(grid)} is not made of whole clusters of {_shape(shape)}; the next larger "
            f"grid that works is {_shape(near)}."
        )
    return Clusters(grid, shape, True)


def _shape(extents) -> str:
    return " × ".join(map(str, extents))
