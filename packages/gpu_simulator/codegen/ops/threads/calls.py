"""Calls of printf, assert, malloc and free, which the simulator implements itself; others are inlined before."""

from __future__ import annotations

import math
import re
import struct
from fractions import Fraction

import numpy as np

from gpu_simulator.codegen.registry import op
from gpu_simulator.faults import AssertionFailed, LaunchError, MemoryFault
from gpu_simulator.machine.address_space import GLOBAL_BASE, LOCAL_WINDOW
from gpu_simulator.runtime import runtime

_CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcsp%])")


@op(
    "call",
    forms="vprintf, __assertfail, malloc, free; every function with a body is expanded in place, recursive ones with a "
    "stack",
)
def call(e, i):
    """Calls of vprintf, __assertfail, malloc and free."""
    results, callee, arguments = i.operands
    offsets = [e.program.address(symbol.variable) for symbol in arguments.items]
    if callee.name == "vprintf":
        result = e.constant(np.uint64(e.program.address(results.items[0].variable)))
        e.line(f"print_text(resident, lanes, {offsets[0]}, {offsets[1]})")
        e.line(f"store(resident, lanes, {i.site}, 'local', {result}, m, u4, ({e.constant(np.uint32(0))},))")
    elif callee.name == "__assertfail":
        e.line(f"fail_assertion(resident, lanes, {offsets!r})")
    elif callee.name == "malloc":
        result = e.constant(np.uint64(e.program.address(results.items[0].variable)))
        t = e.temporary()
        e.line(f"{t} = allocate(resident, lanes, m, {offsets[0]})")
        e.line(f"store(resident, lanes, {i.site}, 'local', {result}, m, u8, ({t},))")
    elif callee.name == "free":
        e.line(f"release(resident, lanes, {i.site}, m, {offsets[0]})")
    else:
        raise e.unsupported(f"{callee.name} is not known")


def _slot(resident, lane: int, offset: int, width: int) -> int:
    at = lane * resident.local_stride + offset
    return int.from_bytes(resident.local.data[at : at + width].tobytes(), "little")


def _bytes_at(resident, lane: int, address: int, length: int) -> bytes:
    window = resident.program.shared_window
    if address >= window:
        block, at = resident.shared.place(lane, address - window)
        at += block * resident.shared_stride
        return resident.shared.data[at : at + length].tobytes()
    if address >= LOCAL_WINDOW:
        at = lane * resident.local_stride + address - LOCAL_WINDOW
        return resident.local.data[at : at + length].tobytes()
    at = address - GLOBAL_BASE
    return resident.memory.data[at : at + length].tobytes() if 0 <= at < len(resident.memory.data) else b""


def _string(resident, lane: int, address: int) -> str:
    return _bytes_at(resident, lane, address, 4096).partition(b"\0")[0].decode("utf-8", "replace")


@runtime
def print_text(resident, lanes, format_slot, values_slot):
    """printf: print the text of each executing lane, in their order."""
    numbers = lanes.lane_numbers()[lanes.active()].tolist()
    if resident.launch.output_room <= 0:
        resident.launch.unprinted += len(numbers)
        return
    for lane in numbers:
        pattern = _string(resident, lane, _slot(resident, lane, format_slot, 8))
        resident.launch.printed(formatted(resident, lane, pattern, _slot(resident, lane, values_slot, 8)))


def formatted(resident, lane: int, pattern: str, values: int) -> str:
    """`pattern` with C formatting of the packed arguments at a generic address. Raises `MemoryFault`, `LaunchError`."""
    at = 0

    def take(width: int) -> bytes:
        nonlocal at
        at = -(-at // width) * width
        data = _bytes_at(resident, lane, values + at, width)
        at += width
        if len(data) < width:
            raise MemoryFault(f"{resident.name_lane(lane)} calls printf with values that lie outside of its memory.")
        return data

    def one(m):
        flags, width, precision, length, kind = m.groups()
        if kind == "%":
            return "%"
        if width == "*":
            width = str(int.from_bytes(take(4), "little", signed=True))
        if precision == "*":
            precision = str(int.from_bytes(take(4), "little", signed=True))
        if (precision or "").startswith("-"):  # a negative precision means none
            precision = None
        precision = "0" if precision == "" else precision
        if max(len(width or ""), len(precision or "")) > 5:
            raise LaunchError(
                f"{resident.name_lane(lane)} prints with {m[0][:40]}: a field has 99,999 characters at most."
            )
        size = (width or "") + (f".{precision}" if precision is not None else "")
        style, unfilled = f"%{flags}{size}", f"%{flags.replace('0', '')}{size}"
        if kind in "eEfFgGaA":
            value = struct.unpack("<d", take(8))[0]
            style = style if math.isfinite(value) else unfilled
            return _hexadecimal(value, flags, width, precision, kind) if kind in "aA" else (style + kind) % value
        if kind == "s":
            return (style + "s") % _string(resident, lane, int.from_bytes(take(8), "little"))
        if kind == "p":
            return f"%{flags}{width or ''}s" % hex(int.from_bytes(take(8), "little"))
        value = int.from_bytes(take(8 if length in ("l", "ll", "j", "z", "t") else 4), "little", signed=kind in "di")
        if length in ("h", "hh"):
            bits = 16 if length == "h" else 8
            value &= (1 << bits) - 1
            if kind in "di" and value >> (bits - 1):
                value -= 1 << bits
        style = style if precision is None else unfilled  # with a precision the flag 0 is ignored
        return (style + {"u": "d", "i": "d"}.get(kind, kind)) % (value & 255 if kind == "c" else value)

    return _CONVERSION.sub(one, pattern)


def _hexadecimal(value: float, flags: str, width: str | None, precision: str | None, kind: str) -> str:
    """%a as in C: as many digits as the value has, or `precision` of them, rounded to even."""
    if not math.isfinite(value):
        text = str(value)
    else:
        sign, lead, digits, exponent = re.fullmatch(r"(-?)0x(.)\.(\w*)p(.*)", value.hex()).groups()
        digits = digits.ljust(13, "0")
        if precision is None:
            digits = digits.rstrip("0")
        elif int(precision) < 13:
            cut = 16 ** (13 - int(precision))
            whole = round(Fraction(int(lead + digits, 16), cut))
            places = int(precision)
            lead, digits = f"{whole >> 4 * places:x}", f"{whole:x}".zfill(places)[-places:] if places else ""
        else:
            digits = digits.ljust(int(precision), "0")
        text = f"{sign}0x{lead}{'.' if digits else ''}{digits}p{exponent}"
    text = text if text.startswith("-") or not set(flags) & {"+", " "} else ("+" if "+" in flags else " ") + text
    size = abs(int(width or 0))
    text = text.ljust(size) if "-" in flags or (width or "").startswith("-") else text.rjust(size)
    return text.upper() if kind == "A" else text


@runtime
def fail_assertion(resident, lanes, slots):
    """Raise `AssertionFailed` for the first executing lane."""
    numbers = lanes.lane_numbers()[lanes.active()]
    if not len(numbers):
        return
    lane = int(numbers[0])
    text, file = (_string(resident, lane, _slot(resident, lane, slot, 8)) for slot in slots[:2])
    line = _slot(resident, lane, slots[2], 4)
    function = _string(resident, lane, _slot(resident, lane, slots[3], 8))
    failed = AssertionFailed(f"{file}:{line}: {function}: {resident.name_lane(lane)} assertion `{text}` failed.")
    failed.file, failed.line = file, int(line)
    raise failed


@runtime
def allocate(resident, lanes, mask, slot):
    """malloc: the address for each lane, (lanes.n,); the lanes execute one after the other. slot: of the size."""
    found = np.zeros(lanes.n, np.uint64)
    numbers = lanes.lane_numbers()
    for position in np.flatnonzero(lanes.active() if mask is None else mask).tolist():
        size = _slot(resident, int(numbers[position]), slot, 8)
        found[position], again = resident.launch.heap.allocate(size)
        if again is not None and resident.launch.hazards is not None:
            resident.launch.hazards.forget(again)
    return found


@runtime
def release(resident, lanes, site, mask, slot):
    """free. slot: of the address."""
    launch = resident.launch
    numbers = lanes.lane_numbers()
    for position in np.flatnonzero(lanes.active() if mask is None else mask).tolist():
        lane = int(numbers[position])
        address = _slot(resident, lane, slot, 8)
        number = launch.heap.numbers.get(address)
        size = 0 if number is None else launch.memory.ends[number] - address
        for observer in resident.observers if size else ():
            observer.freed(lane, site, number, size)
        launch.heap.free(address, resident.name_lane(lane))
