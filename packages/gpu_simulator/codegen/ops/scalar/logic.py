"""Bit operations: and, or, xor, not, lop3, shifts, bit fields, prmt, popc, clz …"""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.ptx.types import CODES, SIZE
from gpu_simulator.runtime import runtime

_SIGNS = {"and": "&", "or": "|", "xor": "^"}


@op("and", "or", "xor", forms="pred b16 b32 b64")
def binary(e, i):
    """Bitwise and, or, xor."""
    kind = i.parts[-1]
    e.allow()
    a, b = (e.read(o, kind) for o in i.operands[1:])
    e.write(i.operands[0], f"({a} {_SIGNS[i.family]} {b})", kind)


@op("not", "cnot", forms="pred b16 b32 b64")
def invert(e, i):
    """Bitwise not; cnot gives 1 if the source is 0, otherwise 0."""
    kind = i.parts[-1]
    e.allow()
    a = e.read(i.operands[1], kind)
    e.write(i.operands[0], f"(~{a})" if i.family == "not" else f"({a} == 0).astype({CODES[kind]})", kind)


@op("shl", "shr", forms="b16 b32 b64 u16 u32 u64 s16 s32 s64; amounts beyond the width are clamped")
def shift(e, i):
    """Shifts."""
    kind = i.parts[-1]
    e.allow()
    size = SIZE[CODES[kind]]
    amount = e.read(i.operands[2], "u32")
    code = CODES[kind]
    if size != 4 or code[0] == "i":
        amount = f"clamped({amount}, {code})"
    e.write(i.operands[0], f"({e.read(i.operands[1], kind)} {'<<' if i.family == 'shl' else '>>'} {amount})", kind)


@runtime
def clamped(amount, dtype):
    """A shift amount in the type of the shifted value, at most 100, which is beyond every width."""
    return np.minimum(amount, np.uint32(100)).astype(dtype)


@op("shf", forms="l, r; wrap, clamp; b32")
def funnel(e, i):
    """Shifts a pair of 32-bit registers as 64 bits and keeps one half."""
    e.allow("l", "r", "wrap", "clamp")
    low, high, amount = (e.read(o, "u32") for o in i.operands[1:])
    side, wrap = ("l" if "l" in i.parts else "r"), "wrap" in i.parts
    e.write(i.operands[0], f"funnel_shift({low}, {high}, {amount}, {side!r}, {wrap})", "u32")


@runtime
def funnel_shift(low, high, amount, side, wrap):
    """32 bits of high:low, shifted left or right; the amount is clamped to 32 or taken modulo 32."""
    amount = amount & np.uint32(31) if wrap else np.minimum(amount, np.uint32(32))
    pair = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
    amount = amount.astype(np.uint64)
    if side == "l":
        return ((pair << amount) >> np.uint64(32)).astype(np.uint32)
    return (pair >> amount).astype(np.uint32)


@op("lop3", forms="b32; and with a predicate result (.or, .and)")
def lop3(e, i):
    """Any Boolean function of three inputs, by its truth table."""
    e.allow("or", "and", "BoolOp")
    operands = i.operands[1:]
    table = int(operands[3].text, 0) & 255
    a, b, c = (e.temporary() for _ in range(3))
    for name, operand in zip((a, b, c), operands, strict=False):
        e.line(f"{name} = {e.read(operand, 'b32')}")
    value = truth_table(table, a, b, c, e)
    if "or" in i.parts or "and" in i.parts:
        other = e.read(operands[4], "pred")
        t = e.temporary()
        e.line(f"{t} = {value}")
        sign = "|" if "or" in i.parts else "&"
        e.write(i.operands[0].first, t, "b32")
        e.write(i.operands[0].second, f"(({t} != 0) {sign} {other})", "pred")
        return
    e.write(i.operands[0], value, "b32")


_KNOWN = {
    0x80: "({a} & {b} & {c})",
    0xFE: "({a} | {b} | {c})",
    0x96: "({a} ^ {b} ^ {c})",
    0xE8: "(({a} & {b}) | ({c} & ({a} | {b})))",
    0xEA: "(({a} & {b}) | {c})",
    0xF8: "({a} | ({b} & {c}))",
    0xCA: "(({a} & {b}) | (~{a} & {c}))",
    0x78: "({a} ^ ({b} & {c}))",
    0x6A: "(({a} & {b}) ^ {c})",
    0xC0: "({a} & {b})",
    0xFC: "({a} | {b})",
    0x3C: "({a} ^ {b})",
    0xF0: "{a}",
    0xCC: "{b}",
    0xAA: "{c}",
    0x0F: "(~{a})",
    0x33: "(~{b})",
    0x55: "(~{c})",
}


def truth_table(table: int, a: str, b: str, c: str, e) -> str:
    """An expression with this truth table: a known short form, or otherwise a disjunction of its rows."""
    if table in _KNOWN:
        return _KNOWN[table].format(a=a, b=b, c=c)
    if table in (0, 255):
        return f"({a} & {e.constant(np.uint32(0))})" if table == 0 else f"({a} | {e.constant(np.uint32(2**32 - 1))})"
    terms = []
    for row in range(8):
        if table >> row & 1:
            terms.append(
                "("
                + " & ".join(name if row >> shift & 1 else f"~{name}" for name, shift in ((a, 2), (b, 1), (c, 0)))
                + ")"
            )
    return "(" + " | ".join(terms) + ")"


@op("bfe", "bfi", forms="u32 s32 u64 s64 b32 b64")
def fields(e, i):
    """Extracts or inserts bit fields."""
    kind = i.parts[-1]
    e.allow()
    if i.family == "bfe":
        value = e.read(i.operands[1], kind)
        at, length = (e.read(o, "u32") for o in i.operands[2:])
        e.write(i.operands[0], f"extract({value}, {at}, {length})", kind)
    else:
        a, b = (e.read(o, kind) for o in i.operands[1:3])
        at, length = (e.read(o, "u32") for o in i.operands[3:])
        e.write(i.operands[0], f"insert({a}, {b}, {at}, {length})", kind)


@runtime
def extract(value, at, length):
    """bfe: the field, zero- or sign-extended by the type of `value`. Positions and lengths are taken modulo 256."""
    dtype = value.dtype
    width = 8 * dtype.itemsize
    at = (at & np.uint32(255)).astype(np.int64)
    length = (length & np.uint32(255)).astype(np.int64)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    bits = value.view(unsigned)
    moved = bits >> np.minimum(at, width).astype(unsigned)
    mask = np.where(
        length >= width,
        ~unsigned.type(0),
        (unsigned.type(1) << np.minimum(length, width - 1).astype(unsigned)) - unsigned.type(1),
    )
    out = moved & mask
    if dtype.kind == "i":
        top = np.minimum(at + length - 1, width - 1)
        sign = (bits >> np.maximum(top, 0).astype(unsigned)) & unsigned.type(1)
        filled = np.where((sign != 0) & (length > 0), out | ~mask, out)
        short = (at + length > width) & (sign != 0) & (length > 0)
        # Bits beyond the top of the source are copies of the sign.
        keep = np.where(
            at >= width, unsigned.type(0), (~unsigned.type(0)) >> np.minimum(at, width - 1).astype(unsigned)
        )
        filled = np.where(short, filled | ~keep, filled)
        return filled.astype(unsigned).view(dtype)
    return out.astype(dtype)


@runtime
def insert(a, b, at, length):
    """bfi: b with the low `length` bits of a inserted at bit `at`.

    Only positions from 0 to 255 are defined: an H200 uses them modulo 256 for 32 bits, and unchanged for 64.
    """
    dtype = b.dtype
    width = 8 * dtype.itemsize
    at = np.minimum(at & np.uint32(255) if width == 32 else at, np.uint32(width)).astype(dtype)
    length = np.minimum(length & np.uint32(255), np.uint32(width))
    ones = np.where(
        length >= width, ~dtype.type(0), (dtype.type(1) << np.minimum(length, width - 1).astype(dtype)) - dtype.type(1)
    ).astype(dtype)
    mask = ones << at
    return (b & ~mask) | ((a << at) & mask)


@op("prmt", forms="b32; default, f4e, b4e, rc8, ecl, ecr, rc16")
def prmt(e, i):
    """Selects four bytes of eight."""
    mode = next((p for p in i.parts if p in _MODES), "")
    e.allow(*_MODES)
    a, b, selector = (e.read(o, "u32") for o in i.operands[1:])
    e.write(i.operands[0], f"permute({a}, {b}, {selector}, {mode!r})", "b32")


_MODES = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


@runtime
def permute(a, b, selector, mode=""):
    """prmt: selector nibbles choose bytes of {b, a}; bit 3 replicates the sign."""
    if mode:
        rows = np.array([sum(s << 4 * n for n, s in enumerate(row)) for row in _MODES[mode]], np.uint32)
        selector = rows[(selector & np.uint32(3)).astype(np.int64)]
    pair = (b.astype(np.uint64) << np.uint64(32)) | a.astype(np.uint64)
    out = np.uint32(0)
    constant = selector.ndim == 0
    for n in range(4):
        nibble = (selector >> np.uint32(4 * n)) & np.uint32(15)
        byte = ((pair >> ((nibble & np.uint32(7)).astype(np.uint64) << np.uint64(3))) & np.uint64(255)).astype(
            np.uint32
        )
        if not constant or nibble & 8:
            sign = np.where(byte & np.uint32(128), np.uint32(255), np.uint32(0))
            byte = np.where(nibble & np.uint32(8), sign, byte)
        out = out | (byte << np.uint32(8 * n))
    return out


@op(
    forms={"popc": "b32 b64", "clz": "b32 b64", "bfind": "u32 s32 u64 s64; shiftamt", "brev": "b32 b64"},
)
def counting(e, i):
    """Counts, finds or reverses bits."""
    kind = i.parts[-1]
    e.allow("shiftamt")
    value = e.read(i.operands[1], kind)
    if i.family == "brev":
        e.write(i.operands[0], f"reverse_bits({value})", kind)
        return
    call = {"popc": "population", "clz": "leading_zeros", "bfind": "find_top"}[i.family]
    shiftamt = ", True" if "shiftamt" in i.parts else ""
    e.write(i.operands[0], f"{call}({value}{shiftamt})", "u32")


@runtime
def population(x):
    """popc: the number of set bits."""
    x = x.astype(np.uint64)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return ((x * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.uint32)


def _smear(x):
    for step in (1, 2, 4, 8, 16, 32)[: 5 if x.dtype.itemsize == 4 else 6]:
        x = x | (x >> x.dtype.type(step))
    return x


@runtime
def leading_zeros(x):
    """clz: the number of zeros above the highest set bit; the width for 0."""
    return np.uint32(8 * x.dtype.itemsize) - population(_smear(x))


@runtime
def find_top(x, shift_amount=False):
    """bfind: position of the highest set bit (of the highest non-sign bit when signed); 0xFFFFFFFF if none."""
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    bits = np.where(x < 0, ~x, x).astype(x.dtype).view(unsigned) if x.dtype.kind == "i" else x
    found = population(_smear(bits)) - np.uint32(1)
    if shift_amount:
        found = np.where(found == np.uint32(0xFFFFFFFF), found, np.uint32(8 * x.dtype.itemsize - 1) - found)
    return found


@runtime
def reverse_bits(x):
    """brev: the bits in the opposite order."""
    out, width = x & x.dtype.type(0), 8 * x.dtype.itemsize
    for n in range(width):
        out = out | (((x >> x.dtype.type(n)) & x.dtype.type(1)) << x.dtype.type(width - 1 - n))
    return out


@op("fns", forms="b32")
def fns(e, i):
    """The position of the n-th set bit of a mask, from a base upwards or (n < 0) downwards."""
    e.allow()
    mask, base = (e.read(o, "u32") for o in i.operands[1:3])
    e.write(i.operands[0], f"nth_set({mask}, {base}, {e.read(i.operands[3], 's32')})", "u32")


@runtime
def nth_set(mask, base, offset):
    """fns: bits are counted from `base`, itself included: the first for offsets 1 and -1. 0xFFFFFFFF if there is none.

    Offset 0: `base`, if its bit is set.
    """
    mask, base, offset = (x.astype(np.int64)[..., None] for x in np.broadcast_arrays(mask, base, offset))
    places = np.arange(32)
    bits = (mask >> places) & 1
    upwards = np.cumsum(np.where(places >= base, bits, 0), -1)
    downwards = np.cumsum(np.where(places <= base, bits, 0)[..., ::-1], -1)[..., ::-1]
    up, down = ((bits == 1) & (count == np.abs(offset)) for count in (upwards, downwards))
    found = np.where(offset > 0, up & (places >= base), down & (places <= base))
    found = np.where(offset == 0, (bits == 1) & (places == base), found)
    out = np.where(found.any(-1), found.argmax(-1), 0xFFFFFFFF).astype(np.uint32)
    return out if out.ndim else out[()]


@op("bmsk", "szext", forms="b32 u32 s32; clamp, wrap")
def masks(e, i):
    """bmsk: a mask of consecutive ones; szext: sign or zero extension from a bit."""
    e.allow("clamp", "wrap")
    kind = types_of(i.parts)[-1]
    a, b = e.read(i.operands[1], "u32" if i.family == "bmsk" else kind), e.read(i.operands[2], "u32")
    wrap = "wrap" in i.parts
    if i.family == "bmsk":
        e.write(i.operands[0], f"bit_mask({a}, {b}, {wrap})", "u32")
    else:
        thirty_one, whole = e.constant(np.uint32(31)), e.constant(np.uint32(32))
        length = f"({b} & {thirty_one})" if wrap else f"np.minimum({b}, {whole})"
        e.write(i.operands[0], f"extract({a}, {e.constant(np.uint32(0))}, {length})", kind)


@runtime
def bit_mask(at, length, wrap):
    """bmsk: `length` ones from bit `at` on; both numbers are clamped to 32 or taken modulo 32."""
    limit = (lambda v: v & np.uint32(31)) if wrap else (lambda v: np.minimum(v, np.uint32(32)))
    at, length = limit(at), limit(length)
    ones = ((np.uint64(1) << length.astype(np.uint64)) - np.uint64(1)) << at.astype(np.uint64)
    return ones.astype(np.uint32)
