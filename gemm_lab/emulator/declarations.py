"""Declarations of PTX: registers, variables with initialisers, parameters."""

from __future__ import annotations

import re
import struct

from gemm_lab.emulator.ir import Register, Variable
from gemm_lab.emulator.operands import integer

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
    r"(?P<name>[\w$%]+)\s*(?P<extent>(?:\[[^\]]*\]\s*)*)(?:=\s*(?P<initial>.*))?$",
    re.S,
)


MOST_REGISTERS = 1_000_000  # of one name; far beyond what a compiler writes


def registers_of(text: str, registers: list[Register]) -> dict:
    """The names that one .reg statement declares; new registers are appended to `registers`."""
    m = re.match(r"\.reg\s*(?:\.v([24])\s*)?\.(\w+)\s+(.*)$", text, re.S)
    if m is None:
        raise ValueError(f"cannot read the declaration {text[:60]!r}")
    vector, kind, names = m.groups()
    if kind not in BYTES:
        raise ValueError(f".{kind} is not a register type")
    found: dict = {}
    for name in names.split(","):
        name = name.strip()
        m = re.fullmatch(r"([%\w$]+)<(\d+)>", name)
        if m:
            prefix, base = m[1], len(registers)
            if int(m[2]) > MOST_REGISTERS:
                raise ValueError(f"{m[2]} registers are more than a kernel has")
            new = [Register(base + i, kind, f"{prefix}{i}") for i in range(int(m[2]))]
            registers.extend(new)
            found.update((register.name, register) for register in new)
        elif vector:
            items = []
            for item in "xyzw"[: int(vector)]:
                registers.append(Register(len(registers), kind, f"{name}.{item}"))
                items.append(registers[-1])
            found[name] = tuple(items)
        else:
            registers.append(Register(len(registers), kind, name))
            found[name] = registers[-1]
    return found


def variable_of(text: str) -> Variable | None:
    """A .global, .const, .shared, .local or .param variable; None for statements that declare no memory."""
    m = _VARIABLE.match(text.strip())
    if m is None:
        if re.match(r"(?:\.\w+\s+)*\.(?:texref|samplerref|surfref)\b", text):
            return None
        raise ValueError(f"cannot read the declaration {text.strip()[:60]!r}")
    before = m["before"]
    space = next((s for s in _SPACES if re.search(rf"\.{s}\b", before)), None)
    if space is None:
        raise ValueError(f"the variable {m['name']} names no state space")
    element = BYTES[m["type"]] * int(m["vector"] or 1)
    count, open_ended = 1, False
    for extent in re.findall(r"\[([^\]]*)\]", m["extent"] or ""):
        if extent.strip():
            count *= integer(extent.strip())
        else:
            open_ended = True
    align = re.search(r"\.align\s+(\d+)", before)
    size = 0 if open_ended and m["initial"] is None else element * count
    variable = Variable(
        m["name"], space, size, int(align[1]) if align else element, m["type"], external=".extern" in before
    )
    if m["initial"] is not None:
        variable.initial, variable.links = _initial(m["initial"], m["type"], BYTES[m["type"]])
        variable.size = max(variable.size, len(variable.initial))
        variable.initial = variable.initial.ljust(variable.size, b"\0")
    return variable


def parameters_of(text: str) -> list[Variable]:
    """The parameters in a function header."""
    found = []
    for part in re.split(r",(?![^\[]*\])", text):
        if part.strip() and not part.strip().startswith(".reg"):
            found.append(variable_of(part.strip()))
        elif part.strip():
            raise ValueError("parameters in registers are not supported")
    return found


def _initial(text: str, kind: str, width: int) -> tuple[bytes, tuple]:
    """Bytes of an initialiser, and the places where addresses of symbols go."""
    items = [item.strip() for item in text.replace("{", " ").replace("}", " ").split(",") if item.strip()]
    if kind in ("b8", "u8") and all(item.isdigit() for item in items):
        return bytes(int(item) & 255 for item in items), ()
    data, links = bytearray(), []
    for item in items:
        m = re.match(
            r"(?:(0xFF[0F]*)\s*\()?\s*(generic\s*\(\s*)?([A-Za-z_$][\w$]*)\s*\)?\s*(?:\+\s*(\d+))?\s*\)?$", item
        )
        mask = re.match(r"(0x[0-9A-Fa-f]+)\s*\(\s*(generic\s*\(\s*)?([\w$]+)\s*\)?\s*(?:\+\s*(\d+))?\s*\)", item)
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
    """A literal of a PTX type as little-endian bytes."""
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
    if "." in body or (kind in ("f32", "f64") and not body.isdigit()):
        return struct.pack("<f" if kind == "f32" else "<d", float(text))
    if kind in ("f32", "f64"):
        return struct.pack("<f" if kind == "f32" else "<d", float(integer(text)))
    return (integer(text) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
