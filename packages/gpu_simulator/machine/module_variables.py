"""Contents of `__constant__` and `__device__` variables, which a host program would fill with cudaMemcpyToSymbol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpu_simulator.argument_checks import shown
from gpu_simulator.faults import LaunchError
from gpu_simulator.machine.address_space import GLOBAL_BASE
from gpu_simulator.machine.parameters import number_bytes
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.ptx.ir import Instruction, Variable


class Given(NamedTuple):
    """offset: of the variable from GLOBAL_BASE.   data: its contents.   array: what was given, if it is an array."""

    variable: Variable
    offset: int
    data: bytes
    array: np.ndarray | None


def given_variables(program: Any, symbols: Mapping[str, Any] | None) -> list[Given]:
    """The variables that a launch fills. symbols: by name, an array of the variable's size, a number or bytes.

    Raises `LaunchError` for a name that is not known or in several variables, and for contents that do not fit.
    """
    return [_given(program, name, value) for name, value in (symbols or {}).items()]


def _given(program: Any, name: str, value: Any) -> Given:
    places = {known: start - GLOBAL_BASE for start, _, known in program.global_variables}
    variables = [variable for variable in program.module.variables.values() if variable.name in places]
    meant = [variable for variable in variables if name in (variable.name, source_name(variable.name))]
    if len(meant) != 1:
        names = [source_name(v.name) for v in variables if v.name.isidentifier() and not v.name.startswith("__")]
        if meant:
            raise LaunchError(f"{name} names several variables; write one of {', '.join(v.name for v in meant)}.")
        known = f"it has {', '.join(names)}" if names else "it has none that the host could fill"
        raise LaunchError(f"The module of {source_name(program.entry)} has no variable called {name}; {known}.")
    variable = meant[0]
    array = value if isinstance(value, np.ndarray) else None
    if array is not None:
        uses = program.variable_uses.get(variable.name)
        data = _array_bytes(variable, name, array, uses.loads if uses else ())
    elif isinstance(value, (bytes, bytearray)):
        data = bytes(value)
    elif isinstance(value, (int, float, np.number, np.bool_)) and variable.type != "b8":
        data = number_bytes(value, variable, name)
    else:
        raise LaunchError(
            f"{name} has {variable.size:,} bytes and is given by an array or by bytes, or by a number where it is one; "
            f"not by {shown(value)}."
        )
    if len(data) != variable.size:
        what = f"an array of {array.size:,} {array.dtype} of {len(data):,}" if array is not None else f"{len(data):,}"
        raise LaunchError(f"{name} has {variable.size:,} bytes, and {what} bytes was given; give all of it.")
    return Given(variable, places[variable.name], data, array)


def _array_bytes(variable: Variable, name: str, array: np.ndarray, loads: Sequence[Instruction]) -> bytes:
    if array.dtype.hasobject or not array.flags.c_contiguous:
        raise LaunchError(f"{name} is given by a contiguous array of numbers; pass np.ascontiguousarray(…).")
    floats = bool({"f32", "f64"} & {item.parts[-1] for item in loads})
    if array.itemsize > variable.align or (floats and array.dtype.kind != "f"):
        why = "the kernel loads floats from it" if floats else f"it is aligned to {variable.align} bytes"
        raise LaunchError(f"{name} cannot hold {array.dtype}, because {why}; give an array of its declared type.")
    return np.ascontiguousarray(array).tobytes()
