"""Explains, as `LaunchError`s, launches that this GPU cannot start, before or after the driver refuses them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from gpu_simulator.errors import LaunchError

BAD_SHAPE, NO_ROOM, NO_SUCH_CLUSTER = 1, 701, 912  # CUresult of a launch


def require_architecture(arch: str, name: str, here: tuple[int, int]) -> None:
    """Raise `LaunchError` if a CUBIN for `arch` does not run on a GPU of compute capability `here`.

    A CUBIN runs on GPUs of its own major version from its own minor version on. One whose architecture ends with "a",
    such as sm_90a, runs on that version only.
    """
    digits, special = arch.removeprefix("sm_").rstrip("af"), arch[-1] in "af"
    major, minor = int(digits[:-1]), int(digits[-1])
    fits = major == here[0] and (minor == here[1] if arch[-1] == "a" else minor <= here[1])
    if not fits:
        only = "exactly that architecture" if special else f"GPUs {major}.{minor} to {major}.9"
        raise LaunchError(
            f"{name} is compiled for {arch}, which runs on {only}; this GPU is {here[0]}.{here[1]}. "
            f"Compile it for sm_{here[0]}{here[1]}, or use the simulator."
        )


def require_shape(grid: Sequence[int], threads: int, name: str) -> None:
    """Raise `LaunchError` if the grid, or the number of threads of a block, exceeds the limits that all GPUs have."""
    if any(extent < 1 for extent in grid) or max(grid[1:]) > 65535 or grid[0] >= 2**31:
        raise LaunchError(
            f"The grid is {tuple(grid)}: each extent has to be at least 1, x at most 2,147,483,647, y and z at most "
            "65,535. Choose another size or other tiles."
        )
    if not 1 <= threads <= 1024:
        raise LaunchError(f"{name} has blocks of {threads} threads; a block has 1 to 1,024.")


def require_cluster(grid: Sequence[int], cluster: Sequence[int], name: str) -> None:
    """Raise `LaunchError` unless the grid consists of whole clusters of 1 to 16 blocks.

    More than 8 blocks need an attribute of the function, and not every GPU allows them.
    """
    words, blocks = " × ".join(map(str, cluster)), cluster[0] * cluster[1] * cluster[2]
    if min(cluster) < 1 or blocks > 16:
        raise LaunchError(f"{name} asks for clusters of {words} blocks; a cluster has 1 to 16, and 8 on every GPU.")
    if any(extent % step for extent, step in zip(grid, cluster, strict=True)):
        near = tuple(-(-extent // step) * step for extent, step in zip(grid, cluster, strict=True))
        raise LaunchError(
            f"The grid of {name} is {tuple(grid)}, which is not made of whole clusters of {words} blocks; {near} is."
        )


@lru_cache(maxsize=64)
def parameter_bytes(ptx: str, entry: str) -> tuple[int, ...] | None:
    """Size in bytes of each parameter of a kernel in PTX (PTX ISA, ".entry" and ".param").

    None if the kernel is not found or the type of a parameter is not understood.
    """
    found = re.search(rf"\.entry\s+{re.escape(entry)}\s*\(([^)]*)\)", ptx)
    if found is None:
        return None
    sizes = []
    for text in filter(str.strip, found[1].split(",")):
        kind, array = re.search(r"\.[bsuf](8|16|32|64)\b", text), re.search(r"\[(\d+)\]", text)
        if kind is None:
            return None
        sizes.append(int(kind[1]) // 8 * (int(array[1]) if array else 1))
    return tuple(sizes)


def require_arguments(sizes: Sequence[int] | None, values: Sequence[np.ndarray], name: str) -> None:
    """Raise `LaunchError` unless the arguments have the number and the sizes (bytes) of the kernel's parameters.

    The driver does not check this: with an argument too few it would read past the end of the list. If `sizes` is None,
    nothing is checked.
    """
    if sizes is None:
        return
    if len(sizes) != len(values):
        raise LaunchError(
            f"{name} has {len(sizes)} parameters and is launched with {len(values)} arguments; keep the parameters "
            "that its ladder names, in their order."
        )
    for number, (size, value) in enumerate(zip(sizes, values, strict=True), 1):
        if value.nbytes != size:
            raise LaunchError(
                f"Parameter {number} of {name} has {size} bytes and its argument {value.nbytes}: a pointer has 8, an "
                "int or a float 4, a tensor map 128. A 64-bit number is passed as np.int64 or np.uint64."
            )


def not_loaded(name: str, arch: str, here: tuple[int, int], why: str) -> LaunchError:
    """The error for machine code that the driver does not load; `why` is the driver's own message."""
    return LaunchError(
        f"The driver does not load {name} ({why}); it was compiled for {arch} and this GPU is sm_{here[0]}{here[1]}."
    )


def too_much_shared_memory(name: str, asked: int, most: int) -> LaunchError:
    """The error for a kernel that needs more dynamic shared memory than a block may have; both numbers are bytes."""
    return LaunchError(
        f"{name} asks for {asked:,} bytes of dynamic shared memory besides its static arrays; a "
        f"block on this GPU has at most {most:,} in all. Use smaller tiles or fewer stages."
    )


def not_started(
    code: int, name: str, grid: Sequence[int], threads: int, dynamic_smem: int, cluster: Sequence[int]
) -> LaunchError | None:
    """The error for a launch that the driver refused with `code`; None if this code is not about the launch's shape."""
    if code not in (BAD_SHAPE, NO_ROOM, NO_SUCH_CLUSTER):
        return None
    shape = f"grid {tuple(grid)}, {threads} threads, {dynamic_smem:,} bytes of shared memory"
    shape += f", cluster {tuple(cluster)}" if tuple(cluster) != (1, 1, 1) else ""
    why = (
        "threads × registers, or its shared memory, exceed one SM"
        if code == NO_ROOM
        else "the grid must be a multiple of the cluster, and every part must fit one SM"
    )
    return LaunchError(
        f"The GPU cannot start {name} with {shape}: {why}. Use fewer threads, smaller tiles or __launch_bounds__."
    )
