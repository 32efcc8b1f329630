"""Rejects launches that no GPU allows: too many threads, too large a grid, too much shared memory.

Also rejects an array whose elements are not what the kernel's C++ parameter points to, of which PTX knows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gpu_simulator.faults import LaunchError
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.ptx.parameter_types import Parameter, parameters
from gpu_simulator.ptx.struct_types import members, size_of

# The most shared memory that a block may have, in bytes, by compute capability.
# Source: CUDA C++ Programming Guide, "Compute Capabilities", technical specifications.
SHARED_LIMIT = {
    50: 49152,
    52: 49152,
    53: 49152,
    60: 49152,
    61: 49152,
    62: 49152,
    70: 98304,
    72: 98304,
    75: 65536,
    80: 166912,
    86: 101376,
    87: 166912,
    88: 101376,
    89: 101376,
    90: 232448,
    100: 232448,
    101: 232448,
    103: 232448,
    110: 232448,
    120: 101376,
    121: 101376,
}
MAX_THREADS = 1024
# The dtypes that fit a pointer to a C++ type: the meant one first, then those that can hold its bits.
_BITS_16 = ("uint16", "int16")
FITTING = {
    "float": ("float32", "uint32", "complex64"),
    "double": ("float64", "uint64", "complex128"),
    "__half": ("float16", *_BITS_16),
    "__half2": ("float16", *_BITS_16, "uint32", "int32"),
    "__nv_bfloat16": ("bfloat16", *_BITS_16),
    "__nv_bfloat162": ("bfloat16", *_BITS_16, "uint32", "int32"),
    "bool": ("bool", "int8"),
}
FITTING |= {f"float{n}": (*FITTING["float"], "float16", "bfloat16", *_BITS_16, "int8") for n in (2, 3, 4)}
# Bytes of integers. A narrower dtype fits: the kernel reads several elements at once.
SIGNED = {"signed char": 1, "short": 2, "int": 4, "long": 8, "long long": 8}
UNSIGNED = {"unsigned short": 2, "unsigned int": 4, "unsigned long": 8, "unsigned long long": 8}
PLAIN = {"float", "double", "__half", "__nv_bfloat16", "bool", "char", "unsigned char", *SIGNED, *UNSIGNED}
TIMINGS = ("early", "late", "staggered")


def check(launch: Any) -> None:
    """Raise `LaunchError` if a `Launch` has sizes that a GPU, or the kernel, does not allow."""
    program = launch.program
    if launch.timing not in TIMINGS:
        raise LaunchError(f'timing must be "early", "late" or "staggered", not {launch.timing!r}.')
    if launch.dynamic_smem < 0:
        raise LaunchError(f"dynamic_smem_bytes must be 0 or more, not {launch.dynamic_smem:,}.")
    if launch.threads > MAX_THREADS:
        raise LaunchError(
            f"A block of {launch.threads:,} threads is more than the {MAX_THREADS:,} that a block may have."
        )
    if program.max_threads and launch.threads > program.max_threads:
        raise LaunchError(
            f"A block of {launch.threads} threads is more than the {program.max_threads} that "
            f"{source_name(program.entry)} was compiled for (__launch_bounds__)."
        )
    if launch.block[2] > 64 or launch.grid[1] > 65535 or launch.grid[2] > 65535 or launch.grid[0] >= 2**31:
        raise LaunchError(
            f"Grid {launch.grid} or block {launch.block} is larger than a GPU allows: grid y and z at most "
            "65,535, block z at most 64."
        )
    limit = SHARED_LIMIT.get(program.module.capability)
    used = launch.smem_bytes - program.shared_base
    if limit is not None and used > limit:
        raise LaunchError(
            f"A block with {used:,} bytes of shared memory is more than the {limit:,} of "
            f"{program.module.target.split(',')[0]} (PTX line {program.module.functions[program.entry].line})."
        )
    if launch.threads % 32:
        for item in program.sites:
            if item.family in ("ldmatrix", "stmatrix", "mma", "wmma", "wgmma", "movmatrix"):
                raise LaunchError(
                    f"A block of {launch.threads} threads ends in a partial warp, but {item.opcode} "
                    f"({launch.describe(item)}) needs all 32 lanes; use a multiple of 32 threads."
                )


# ---- The types of arrays ----


def check_dtypes(entry: str, source: str, args: Sequence[Any]) -> None:
    """Raise `LaunchError` for an array with other elements than those that the C++ parameter points to.

    entry: the kernel's name in the PTX.   source: its CUDA source. A type that neither of them tells is not checked,
    and neither is `void*`, `char*`, `unsigned char*` or a vector of integers such as `uint4*`, which can point to
    anything. Bytes (uint8) fit every pointer, and structured arrays one to a struct of their size.
    """
    check_structs(entry, source, args)
    for number, parameter, meant in misfits(entry, source, args):
        name = parameter.name or "a"
        cast = f"{'ml_dtypes' if meant == 'bfloat16' else 'np'}.{meant}"
        raise LaunchError(
            f"args[{number}] is an array of {args[number].dtype}, but {source_name(entry)} takes {parameter.type} "
            f"there: convert the array before the call, {name} = {name}.astype({cast})."
        )
    for number, parameter, size in misfit_structs(entry, source, args):
        raise LaunchError(
            f"args[{number}] is an array of structs of {args[number].dtype.itemsize} bytes, but {source_name(entry)} "
            f"takes {parameter.type} there, and its struct has {size}. Give the dtype each member of the struct, in "
            "order, with align=True."
        )


def misfit_structs(entry: str, source: str, args: Sequence[Any]) -> Iterator[tuple[int, Parameter, int]]:
    """Yields (number, parameter, bytes of its type) of each array of structs of another size."""
    for number, (parameter, value) in enumerate(zip(parameters(entry, source), args, strict=False)):
        if isinstance(value, np.ndarray) and value.dtype.names and parameter.type.endswith("*"):
            kind = parameter.type.removesuffix("*")
            size = size_of(kind, source) if members(kind, source) else 0
            if size and value.dtype.itemsize != size:
                yield number, parameter, size


def check_structs(entry: str, source: str, args: Sequence[Any]) -> None:
    """Raise `LaunchError` for a struct with too few members, or with a pointer in place of a number or the reverse.

    Only structs are checked that have numbers and pointers alone, of which the source tells the types.
    """
    for parameter, value in zip(parameters(entry, source), args, strict=False):
        found = members(parameter.type, source) if isinstance(value, tuple) else None
        inside = [one for one in found or () for _ in range(max(1, one.count))]
        if not inside or not all("*" in one.type or one.type in PLAIN for one in inside):
            continue
        if len(inside) < len(value):  # perhaps with zeros between them
            continue
        wrong = [
            f"an array stands in the place of the number {one.name}"
            if isinstance(item, (np.ndarray, list))
            else f"a number stands in the place of the pointer {one.name}"
            for one, item in zip(inside, value, strict=False)
            if isinstance(item, (int, float) if "*" in one.type else (np.ndarray, list))
        ]
        if len(inside) > len(value):
            wrong = [f"{len(value)} of its {len(inside)} members were given"]
        if wrong:
            kind = f"{parameter.type} ({', '.join(f'{one.type} {one.name}' for one in inside)})"
            raise LaunchError(
                f"{parameter.name or 'a parameter'} of {source_name(entry)} is a {kind}: {wrong[0]}. Give "
                "each member in its order: a tuple, in a terminal {…, …}."
            )


def misfits(entry: str, source: str, args: Sequence[Any]) -> Iterator[tuple[int, Parameter, str]]:
    """Yields (number, parameter, meant dtype) of each array that `check_dtypes` refuses."""
    for number, (parameter, value) in enumerate(zip(parameters(entry, source), args, strict=False)):
        kind = parameter.type.removesuffix("*")
        if kind != parameter.type and isinstance(value, np.ndarray) and not _fits(kind, value.dtype):
            yield number, parameter, _meant(kind)


def _fits(kind: str, dtype: np.dtype) -> bool:
    """Whether a pointer to the C++ type `kind` can be meant for elements of this dtype."""
    if dtype == np.uint8 or dtype.type is np.void:
        return True
    if kind in FITTING:
        return dtype.name in FITTING[kind]
    if kind in SIGNED:
        return dtype.kind in "iu" and dtype.itemsize <= SIGNED[kind]
    return kind not in UNSIGNED or (dtype.kind not in "bc" and dtype.itemsize <= UNSIGNED[kind])


def _meant(kind: str) -> str:
    """The dtype whose elements a pointer to `kind` points to."""
    if kind in FITTING:
        return FITTING[kind][0]
    return f"int{8 * SIGNED[kind]}" if kind in SIGNED else f"uint{8 * UNSIGNED[kind]}"


def _counts(value: Any) -> bool:
    """Whether `value` is a whole number of at least 1, of any numeric type."""
    return isinstance(value, (int, float, np.integer, np.floating)) and bool(value >= 1 and value == value // 1)


def extent(value: Any, what: str) -> tuple[int, int, int]:
    """Three numbers from one to three. Raises `LaunchError` for what is no positive whole number."""
    values = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value,)
    if not 1 <= len(values) <= 3 or not all(map(_counts, values)):
        raise LaunchError(f"The {what} must be one to three positive whole numbers, not {value!r}.")
    x, y, z = (*map(int, values), 1, 1)[:3]
    return x, y, z
