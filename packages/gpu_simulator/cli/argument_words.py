"""Kernel arguments as words of a command line: `5`, `i32=5`, `f32:1024:random`, `data.npy`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_simulator.arithmetic.rounding import f32_to_bf16
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware.tensor_map import TensorMap, TensorMapError
from gpu_simulator.memory_limit import in_words, limit_bytes
from gpu_simulator.ptx.struct_types import members, size_of

DTYPES = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "bf16": "uint16",  # the bits of the numbers
}
WORDS = {  # of the types of C++
    "float": "f32", "double": "f64", "__half": "f16", "__nv_bfloat16": "bf16", "bool": "u8", "char": "i8",
    "signed char": "i8", "unsigned char": "u8", "short": "i16", "unsigned short": "u16", "int": "i32",
    "unsigned int": "u32", "long": "i64", "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64",
}  # fmt: skip
FILLS = ("zeros", "ones", "arange", "random", "uninit")
FORMS = (
    "5, 1.5, i32=5, f32:1024, f32:1024:random, f32:64x64:arange, data.npy, null, bytes=00ff, for a struct "
    "'{f32:64, 5}', for an array of structs '{f32, i32}:64', for an array of pointers '[f32:64, f32:64]', or for a "
    "tensor map "
    "f16:64x128:random,box=64x8,swizzle=128"
)
BF16, UNINIT = r"^bf16[:\[]", r"[:=]uninit(?:,|$)"
_COLON = re.compile(r"(?P<type>\w+):(?P<shape>\d[\d_]*(?:x\d[\d_]*)*)(?::(?P<fill>.+))?")
_BRACKET = re.compile(r"(?P<type>\w+)\[(?P<shape>\d[\d_]*(?:x\d[\d_]*)*)\](?:=(?P<fill>.+))?")
_STRUCTS = re.compile(r"\{(?P<members>.*)\}:(?P<shape>\d[\d_]*(?:x\d[\d_]*)*)(?::(?P<fill>.+))?")
_MEMBER = re.compile(r"(?:(?P<name>[a-z_A-Z]\w*)=)?(?P<type>\w+)(?::(?P<count>\d+))?")
_MAP = re.compile(r"(?P<array>[^,]+),box=(?P<box>\d+(?:x\d+)*)(?:,swizzle=(?P<swizzle>\d+))?")
_SCALAR = re.compile(r"(?P<type>\w+)=(?P<value>.+)")


def argument(text: str, seed: int = 0) -> Any:
    """One kernel argument.

    A number: `5`, `0x1f`, `1.5`, `i32=5`.   An array: a .npy file, or its type, its shape and its contents (zeros,
    ones, arange, random, uninit or a number; by default zeros), such as `f32:1024`, `f32:64x64:random` or
    `f32[1024]=random`.
    A tensor map: an array, and the box that a copy moves, its innermost extent first, such as
    `f16:64x128:random,box=64x8` or `data.npy,box=64x8,swizzle=128`. `null` is a null pointer, `bytes=00ff` is a struct.
    Between braces: the members of a struct, `{f32:64:random, f32:64, i64=5}`. In brackets: an array of pointers.
    Braces with a shape behind them are an array of structs whose members have these types, `{f32:3, i32}:100:random`,
    and names if they are given, `{x=f32, y=f32}:100`; it is a structured NumPy array.
    Random floats are N(0, 1), random integers 0 to 99; `seed`
    determines them. Raises `ConfigError` for any other text.
    """
    if text[:1] + text[-1:] in ("{}", "[]"):
        members = [_member(part, 1000 * (seed + 1) + number) for number, part in enumerate(_parts(text[1:-1]))]
        return tuple(members) if text[0] == "{" else members
    if found := _STRUCTS.fullmatch(text):
        return _structs(text, found, seed)
    if found := _MAP.fullmatch(text):
        return _tensor_map(text, found, seed)
    if text.endswith(".npy"):
        return loaded(text)
    found = _COLON.fullmatch(text) or _BRACKET.fullmatch(text)
    if found and found["type"] in DTYPES:
        return _array(text, found["type"], [int(part) for part in found["shape"].split("x")], found["fill"], seed)
    if text in ("null", "nullptr", "NULL"):
        return None
    scalar = _SCALAR.fullmatch(text)
    if scalar and scalar["type"] == "bytes":
        try:
            return bytes.fromhex(scalar["value"])
        except ValueError:
            raise ConfigError(
                f"“{text}” is not an argument; bytes are written as pairs of digits: bytes=00ff."
            ) from None
    number = _number(scalar["value"] if scalar and scalar["type"] in DTYPES else text)
    if number is None:
        raise ConfigError(f"“{text}” is not an argument; write {FORMS}. Types: {', '.join(DTYPES)}.")
    return _typed(text, scalar["type"], number) if scalar else number


def _parts(text: str) -> list[str]:
    """The words between commas that stand in no brackets; a comma before box= or swizzle= divides nothing."""
    parts, depth = [""], 0
    for sign in re.split(r"([{}\[\]]|,(?!box=|swizzle=))", text):
        depth += (sign in ("{", "[")) - (sign in ("}", "]"))
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _member(text: str, seed: int) -> Any:
    """An argument in a struct, where a number keeps the type that is written before it."""
    value, scalar = argument(text, seed), _SCALAR.fullmatch(text)
    if scalar and isinstance(value, (int, float)):
        return np.dtype(DTYPES[scalar["type"]]).type(value)
    return value


def loaded(path: str) -> np.ndarray:
    """The array of a .npy file. Raises `ConfigError`."""
    try:
        found = np.load(path)
        if not isinstance(found, np.ndarray):
            raise ValueError("it holds several arrays; write one with numpy.save")
        return np.ascontiguousarray(found)
    except (OSError, ValueError, EOFError) as error:
        raise ConfigError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _number(text: str) -> int | float | None:
    for kind in (lambda word: int(word, 0), int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _typed(text: str, kind: str, value: int | float) -> Any:
    """A number of a given type: a Python number, or for 16-bit floats a NumPy number."""
    if kind in ("f32", "f64"):
        return float(value)
    if kind == "f16":
        return np.float16(value)
    if kind == "bf16":
        return f32_to_bf16(np.array([value], np.float32))[0]
    limits = np.iinfo(DTYPES[kind])
    if value != value // 1 or not limits.min <= value <= limits.max:
        raise ConfigError(f"“{text}”: {kind} holds whole numbers from {limits.min:,} to {limits.max:,}.")
    return int(value)


def _array(text: str, kind: str, shape: Sequence[int], fill: str | None, seed: int) -> np.ndarray:
    dtype, count = np.dtype(DTYPES[kind]), 1
    for size in shape:
        count *= size
    if count * dtype.itemsize > limit_bytes(None):
        raise ConfigError(
            f"“{text}” would take {in_words(count * dtype.itemsize)} of memory, and {in_words(limit_bytes(None))} may "
            "be used."
        )
    value = _number(fill) if fill not in (None, *FILLS) else None
    if fill not in (None, *FILLS) and value is None:
        raise ConfigError(f"“{text}”: an array is filled with {', '.join(FILLS)} or a number, not with “{fill}”.")
    random, float_like = np.random.default_rng(seed), dtype.kind == "f" or kind == "bf16"
    if fill == "random":
        values = random.standard_normal(count) if float_like else random.integers(0, 100, count)
    elif fill == "arange":
        values = np.arange(count)
    else:  # in the array's own type, because a temporary array of 64-bit numbers may be larger than the memory
        value = int(fill == "ones") if value is None else value
        value = value if float_like else _typed(f"{kind}={fill}", kind, value)
        held = np.dtype(np.float32) if kind == "bf16" else dtype
        values = np.full(count, value, held) if value else np.zeros(count, held)
    if fill == "uninit":
        return np.full(count * dtype.itemsize, 0xFF, np.uint8).view(dtype).reshape(tuple(shape))
    made = f32_to_bf16(values.astype(np.float32)) if kind == "bf16" else values.astype(dtype, copy=False)
    return made.reshape(tuple(shape))


def _structs(text: str, found: re.Match, seed: int) -> np.ndarray:
    """An array of structs, each member at a multiple of its own size as C++ places it."""
    shape = [int(part) for part in found["shape"].split("x")]
    fields, columns = [], {}
    for number, part in enumerate(_parts(found["members"])):
        member = _MEMBER.fullmatch(part)
        if member is None or member["type"] not in DTYPES:
            raise ConfigError(
                f"“{text}”: “{part}” is no member of an array of structs; write its type, with a name or a count if it "
                f"has one: {{f32, x=i32, f32:3}}:100. Types: {', '.join(DTYPES)}."
            )
        name, count = member["name"] or f"f{number}", [int(member["count"])] if member["count"] else []
        columns[name] = _array(text, member["type"], [*shape, *count], found["fill"], 1000 * (seed + 1) + number)
        fields.append((name, DTYPES[member["type"]], tuple(count)))
    try:
        made = np.zeros(shape, np.dtype(fields, align=True))
    except ValueError as error:
        raise ConfigError(f"“{text}”: {error}.") from None
    if found["fill"] == "uninit":
        made.reshape(-1).view(np.uint8)[:] = 0xFF
    else:
        for name, values in columns.items():
            made[name] = values
    return made


def word_of_structs(kind: str, source: str) -> str:
    """The word for one of the structs `kind` of a source, such as "{x=f32, id=i32}", or "" if there is none."""
    parts = []
    for part in members(kind, source) or ():
        vector = re.fullmatch(r"(\w+?)([1-4])", part.type)
        of, count = (_of_vector(vector[1]), int(vector[2])) if vector else (part.type, 1)
        total = count * max(1, part.count)
        parts.append(f"{part.name}={WORDS.get(of, '')}" + (f":{total}" if total > 1 else ""))
    word = f"{{{', '.join(parts)}}}" if parts else ""
    try:
        return word if argument(f"{word}:1").dtype.itemsize == size_of(kind, source) else ""
    except ConfigError:  # no plain struct, or one with a pointer or a struct in it
        return ""


def _of_vector(name: str) -> str:
    """The type of a part of a vector type, of which the name without its count is given."""
    return {"longlong": "long long", "ulonglong": "unsigned long long"}.get(
        name, f"unsigned {name[1:]}" if name[0] == "u" else name
    )


def _tensor_map(text: str, found: re.Match, seed: int) -> TensorMap:
    array = argument(found["array"], seed)
    if not isinstance(array, np.ndarray):
        raise ConfigError(f"“{text}”: a tensor map describes an array; write {FORMS}.")
    box = [int(extent) for extent in found["box"].split("x")]
    element = "bf16" if found["array"].startswith("bf16") else None
    try:
        return TensorMap.of(array, box, int(found["swizzle"] or 0), element)
    except TensorMapError as error:
        raise ConfigError(f"“{text}”: {error}") from None


def named_arrays(pattern: str, text: str, name: str) -> list[str]:
    """The names of the arrays in an argument whose words fit, as `launch` takes them: `2`, in a struct `0.1`.

    pattern: BF16, for arrays of bits of bfloat16, or UNINIT, for those that are to be written before they are read.
    """
    if text[:1] + text[-1:] in ("{}", "[]"):
        parts = enumerate(_parts(text[1:-1]))
        return [one for number, part in parts for one in named_arrays(pattern, part, f"{name}.{number}")]
    return [name] if re.search(pattern, text) else []
