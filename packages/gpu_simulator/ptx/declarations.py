"""Parses PTX declarations: registers, variables with their initialisers, parameters."""

from __future__ import annotations

import re
import struct

from gpu_simulator.ptx.ir import Register, Variable
from gpu_simulator.ptx.operands import NUMBER, integer, shortened

BYTES = {
    "b8": 1,
    "u8": 1,
    "s8": 1,
    "b16": 2,
    "u16": 2,
    "s16": 2,
    "f16": 2,
    "bf16": 2,
    "b32": 4,
    "u32": 4,
    "s32": 4,
    "f32": 4,
    "tf32": 4,
    "f16x2": 4,
    "bf16x2": 4,
    "b64": 8,
    "u64": 8,
    "s64": 8,
    "f64": 8,
    "b128": 16,
    "pred": 1,
    "e4m3x2": 2,
    "e5m2x2": 2,
    "e4m3": 1,
    "e5m2": 1,
}
_SPACES = ("global", "const", "shared", "local", "param", "tex")
_VARIABLE = re.compile(
    r"(?P<before>(?:\.[a-z_]+(?:::\w+)?(?:\s*\(\s*\d+\s*\))?\s*(?:\d+\s+)?)*?)"
    r"(?:\.v(?P<vector>[248])\s*)?\.(?P<type>[a-z]+\d+(?:x2)?|pred)\s+"
    r"(?:\.ptr\s*(?:\.\w+\s*)*?(?:\.align\s+\d+\s*)?)?"
    r"(?P<name>[\w$%]+)\s*(?P<extent>(?:\[[^\]]*\]\s*)*)$",
    re.S | re.ASCII,
)


# Limits, far above what a compiler writes.
MOST_REGISTERS = 100_000  # of a module, and of a kernel with the functions that it calls
MOST_ALIGN = 1 << 16
MOST_INITIAL = 1 << 22  # bytes of an initialiser
MOST_CHARACTERS = 20_000  # of a declaration without its initialiser
_NAME = re.compile(r"[A-Za-z_$%][\w$]*", re.ASCII)


def checked_name(name: str) -> str:
    """The name, if PTX allows it. Raises `ValueError`."""
    if not _NAME.fullmatch(name) or name == "_":
        raise ValueError(f"{name[:40]!r} is not a name")
    return name


def registers_of(text: str, registers: list[Register], others: int = 0) -> dict:
    """The names that one .reg statement declares; the new registers are appended to `registers`.

    A name stands for a `Register`, or for a tuple of them if it is a vector. others: number of registers of the
    functions before this one, for the limit. Raises `ValueError`.
    """
    m = re.match(r"\.reg\s*(?:\.v([24])\s*)?\.(\w+)\s+(.*)$", " ".join(text.split()), re.S | re.ASCII)
    if m is None:
        raise ValueError(f"cannot read the declaration {text[:60]!r}")
    vector, kind, names = m.groups()
    if kind not in BYTES:
        raise ValueError(f".{kind} is not a register type")
    found: dict = {}
    for name in names.split(","):
        name = name.strip()
        m = re.fullmatch(r"([%\w$]+) ?<(\d{1,20})>", name, re.ASCII)
        count = int(m[2]) if m else 1
        if others + len(registers) + count > MOST_REGISTERS:
            raise ValueError(f"{m[2] if m else len(registers) + 1} registers are more than a kernel has")
        checked_name(m[1] if m else name)
        if m:
            prefix, base = m[1], len(registers)
            new = [Register(base + i, kind, f"{prefix}{i}") for i in range(count)]
            registers.extend(new)
            found.update((register.name, register) for register in new)
        elif vector:
            items: list[Register] = []
            for item in "xyzw"[: int(vector)]:
                registers.append(Register(len(registers), kind, f"{name}.{item}"))
                items.append(registers[-1])
            found[name] = tuple(items)
        else:
            registers.append(Register(len(registers), kind, name))
            found[name] = registers[-1]
    return found


def variable_of(text: str) -> Variable | None:
    """A .global, .const, .shared, .local or .param variable; None for statements that declare no memory.

    Raises `ValueError`.
    """
    text, sign, initial = text.partition("=")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a declaration of {len(text):,} characters is more than one has")
    text = " ".join(text.split())
    m = _VARIABLE.match(text)
    if m is None:
        if re.match(r"(?:\.\w+\s+)*\.(?:texref|samplerref|surfref)\b", text):
            return None
        raise ValueError(f"cannot read the declaration {text.strip()[:60]!r}")
    before = m["before"]
    checked_name(m["name"])
    space = next((s for s in _SPACES if re.search(rf"\.{s}\b", before)), None)
    if space is None:
        raise ValueError(f"the variable {m['name']} names no state space")
    if m["type"] not in BYTES:
        raise ValueError(f".{m['type']} is not a type of variables")
    element = BYTES[m["type"]] * int(m["vector"] or 1)
    count, open_ended = 1, False
    for extent in re.findall(r"\[([^\]]*)\]", m["extent"] or ""):
        if extent.strip():
            if not extent.strip()[0].isdigit():
                raise ValueError(f"{m['name']} has the extent {extent.strip()[:20]!r}, which is not a whole number")
            count *= integer(extent.strip())
        else:
            open_ended = True
    align = re.search(r"\.align\s+(\d+)", before)
    boundary = integer(align[1]) if align else element
    if boundary & (boundary - 1) or not 0 < boundary <= MOST_ALIGN:
        raise ValueError(f"{m['name']} is aligned to {boundary} bytes, which is no power of two up to {MOST_ALIGN:,}")
    size = 0 if open_ended and not sign else element * count
    variable = Variable(m["name"], space, size, boundary, m["type"], external=".extern" in before)
    if sign:
        variable.initial, variable.links = _initial(initial, m["type"], BYTES[m["type"]])
        if len(variable.initial) > size and not open_ended:
            raise ValueError(f"{m['name']} has {size:,} bytes, and {len(variable.initial):,} to begin with")
        variable.size = max(variable.size, len(variable.initial))
    return variable


def parameters_of(text: str) -> list[Variable]:
    """The parameters in a function header. Raises `ValueError`."""
    found = []
    for part in re.split(r",(?![^\[]*\])", text):
        if part.strip() and not part.strip().startswith(".reg"):
            found.append(variable_of(part.strip()))
        elif part.strip():
            raise ValueError("parameters in registers are not supported")
    return found


_BYTES = re.compile(r"\s*\{(?:\s*\d{1,3}\s*,)*\s*\d{1,3}\s*\}\s*", re.ASCII)


def _initial(text: str, kind: str, width: int) -> tuple[bytes, tuple]:
    """The bytes of an initialiser, and its `links` (see `Variable`)."""
    if text.count(",") >= MOST_INITIAL // width:
        raise ValueError(f"an initialiser of more than {MOST_INITIAL:,} bytes is not read here")
    if kind in ("b8", "u8") and _BYTES.fullmatch(text):
        return bytes(int(item) & 255 for item in text.strip(" \n\t\r{}").split(",")), ()
    items = [item.strip() for item in text.replace("{", " ").replace("}", " ").split(",") if item.strip()]
    data, links = bytearray(), []
    for item in items:
        if len(item) > 5000:
            raise ValueError(f"{shortened(item)} is not an initial value")
        m = re.match(
            r"(?:(0xFF[0F]*)\s*\()?\s*(generic\s*\(\s*)?([A-Za-z_$][\w$]*)\s*\)?\s*(?:\+\s*(\d{1,18}))?\s*\)?$", item
        )
        mask = re.match(r"(0x[0-9A-Fa-f]+)\s*\(\s*(generic\s*\(\s*)?([\w$]+)\s*\)?\s*(?:\+\s*(\d{1,18}))?\s*\)", item)
        if mask and int(mask[1], 16) == 0:
            raise ValueError(f"{shortened(item)} is not an initial value")
        if mask:
            shift = (int(mask[1], 16) & -int(mask[1], 16)).bit_length() - 1
            links.append((len(data), mask[3], int(mask[4] or 0), shift // 8, 1))
            data += bytes(width)
        elif m:
            links.append((len(data), m[3], int(m[4] or 0), 0, width))
            data += bytes(width)
        else:
            data += number_bytes(item, kind, width)
    return bytes(data), tuple(links)


def number_bytes(text: str, kind: str, width: int) -> bytes:
    """A literal of a PTX type as `width` little-endian bytes. Raises `ValueError`."""
    if not NUMBER.match(text):
        raise ValueError(f"{shortened(text)} is not a number")
    negative = text.startswith("-")
    body = text[1:] if negative else text
    if body[:2] in ("0f", "0F"):
        bits = int(body[2:], 16) ^ (1 << 31 if negative else 0)
        if kind == "f64":
            return struct.pack("<d", struct.unpack("<f", struct.pack("<I", bits))[0])
        return struct.pack("<I", bits)[:width].ljust(width, b"\0")
    if body[:2] in ("0d", "0D") and len(body) == 18:
        bits = int(body[2:], 16) ^ (1 << 63 if negative else 0)
        if kind == "f32":
            return struct.pack("<f", struct.unpack("<d", struct.pack("<Q", bits))[0])
        return struct.pack("<Q", bits)[:width].ljust(width, b"\0")
    if "." in body or kind in ("f32", "f64"):
        try:
            return struct.pack("<f" if kind == "f32" else "<d", float(text if "." in body else integer(text)))
        except OverflowError:
            raise ValueError(f"{shortened(text)} is too large for .{kind}") from None
    return (integer(text) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
