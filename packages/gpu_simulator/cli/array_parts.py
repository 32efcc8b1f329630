"""Parts of arrays for `--print`, and comparisons with a reference for `--compare`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gpu_simulator.cli.argument_words import loaded
from gpu_simulator.errors import ConfigError

NUMBER = r"\d+(?:\.\d+)*"  # of an argument; 0.2 is the third member of the struct that is argument 0
_PART = re.compile(rf"({NUMBER})(?:\[([-\d:, ]*)\])?")
MOST = 1000  # printed values


def part_of(word: str, arrays: Mapping[str, np.ndarray]) -> str:
    """The values that `word` names, such as `2[0:8]`, as text. Raises `ConfigError`."""
    found = _PART.fullmatch(word)
    if not found:
        raise ConfigError(f"--print {word} names no values; write an argument and a slice: --print 2[0:8].")
    array = array_named(word, "--print", found[1], arrays)
    try:
        place = tuple(_index(part) for part in found[2].split(",")) if found[2] else ()
        part = array[place]
    except (ValueError, IndexError):
        shape = "x".join(map(str, array.shape))
        raise ConfigError(f"--print {word}: argument {found[1]} has the shape {shape}; write a slice of it.") from None
    if np.size(part) > MOST:
        raise ConfigError(
            f"--print {word} names {np.size(part):,} values; at most {MOST:,} are printed, so take a slice."
        )
    return f"{word} = " + np.array2string(np.asarray(part), threshold=MOST, separator=", ", max_line_width=120)


class Reference(NamedTuple):
    """What the argument `number` is compared with: the array `wanted` of a file."""

    number: str
    file: str
    wanted: np.ndarray


def reference(word: str, arrays: Mapping[str, np.ndarray]) -> Reference:
    """Read the reference of a word `2=file.npy`. Raises `ConfigError` if it fits no argument. arrays: the arguments."""
    number, given, file = word.partition("=")
    if not given or not re.fullmatch(NUMBER, number) or not file:
        raise ConfigError(f"--compare {word} is not a comparison; write --compare 2=reference.npy.")
    array, wanted = array_named(word, "--compare", number, arrays), loaded(file)
    _check_shape(array, wanted, f"--compare {word}")
    return Reference(number, file, wanted)


def difference(
    reference: Reference, arrays: Mapping[str, np.ndarray], tolerance: float, numbers: Mapping[str, np.ndarray]
) -> str:
    """A sentence about where an array differs from its reference; "" if nowhere.

    tolerance: of |a - b| / max(1, |b|). NaN is equal to NaN.   numbers: the arrays for a reference of floats, where
    those of bfloat16 are no bits. Raises `ConfigError`.
    """
    number, file, wanted = reference
    array = (numbers if wanted.dtype.kind == "f" else arrays)[number]
    said = deviation(array, wanted, tolerance, f"--compare {number}={file}", number)
    return f"argument {number} differs from {file} in {said}" if said else ""


def _check_shape(array: np.ndarray, wanted: np.ndarray, what: str) -> None:
    if wanted.shape != array.shape:
        shapes = ["x".join(map(str, one.shape)) for one in (array, wanted)]
        raise ConfigError(f"{what}: the argument has the shape {shapes[0]}, and the reference {shapes[1]}.")


def deviation(array: np.ndarray, wanted: np.ndarray, tolerance: float, what: str, name: str) -> str:
    """Where an array differs from a reference, as in "2 of 32 values; the first is 2[5] = …"; "" if nowhere.

    tolerance: as for `difference`.   what: the beginning of an error.   name: of the array. Of structs each member is
    compared. Raises `ConfigError` for arrays that cannot be compared.
    """
    _check_shape(array, wanted, what)
    members = array.dtype.names
    if members and members == wanted.dtype.names:
        found = (deviation(array[one], wanted[one], tolerance, what, f'{name}["{one}"]') for one in members)
        return next((said for said in found if said), "")
    if array.dtype.kind not in "fiub" or wanted.dtype.kind not in "fiub":
        raise ConfigError(f"{what}: only numbers are compared, not {array.dtype} with {wanted.dtype}.")
    got, want = array.astype(np.float64), wanted.astype(np.float64)
    wrong = (array != wanted) & ~(np.isnan(got) & np.isnan(want))
    if tolerance:
        with np.errstate(invalid="ignore"):
            near = np.abs(got - want) <= tolerance * np.maximum(1, np.abs(want))
        wrong &= ~(near & np.isfinite(want))
    if not wrong.any():
        return ""
    place = tuple(int(axis[0]) for axis in np.nonzero(wrong))
    at = f"[{', '.join(map(str, place))}]"
    return (
        f"{int(wrong.sum()):,} of {wrong.size:,} values; the first is {name}{at} = {got[place]:g}, in the reference "
        f"{want[place]:g}"
    )


def array_named(word: str, option: str, number: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The array among the arguments that an option names. Raises `ConfigError` if there is none. word: its value."""
    if number not in arrays:
        names = ", ".join(arrays) or "none"
        raise ConfigError(f"{option} {word}: argument {number} is not an array; these are: {names} (from 0).")
    return arrays[number]


def _index(text: str) -> int | slice:
    if ":" not in text:
        return int(text)
    return slice(*(int(part) if part.strip() else None for part in text.split(":")))
