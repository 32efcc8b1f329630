"""Mutants of tcgen05 kernels: one descriptor field changed, accumulation inverted, a commit that reports elsewhere, a
load from another address, or an allocation of another size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mutants import Mutant

_NAME = r"[%\w$]+"
_MULTIPLY = re.compile(
    rf"(?<![\w.])(tcgen05\.mma[\w.:]*\s+\[(?P<d>{_NAME})\],\s*(?:\[{_NAME}\]|(?P<a>{_NAME})),\s*(?P<b>{_NAME}),\s*"
    rf"(?P<word>{_NAME}),\s*(?:\{{[^}}]*\}},\s*)?(?P<accumulate>{_NAME})[^;]*;)"
)
_COMMIT = re.compile(rf"(?<![\w.])(tcgen05\.commit[\w.:]*\s+\[(?P<barrier>{_NAME})\](?:,\s*(?P<blocks>{_NAME}))?;)")
_LOAD = re.compile(rf"(?<![\w.])(tcgen05\.ld[\w.:]*\s+\{{[^}}]*\}},\s*\[(?P<address>{_NAME})\][^;]*;)")
_SIZED = re.compile(rf"(?<![\w.])(tcgen05\.(?:de)?alloc[\w.:]*\s+\[?{_NAME}\]?,\s*(?P<columns>{_NAME});)")

# Field of a descriptor -> the bits that a mutant flips.
SHARED_FIELDS = {
    "start": 1 << 1,
    "leading offset": 1 << 16,
    "stride offset": 1 << 38,
    "version": 1 << 46,
    "base offset": 1 << 49,
    "leading offset mode": 1 << 52,
    "swizzle": 6 << 61,
    "unused bit": 1 << 60,
}
INSTRUCTION_FIELDS = {
    "sparsity selector": 1,
    "sparse": 1 << 2,
    "saturate": 1 << 3,
    "type of D": 1 << 4,
    "type of A": 1 << 7,
    "type of B": 1 << 10,
    "negate A": 1 << 13,
    "negate B": 1 << 14,
    "major of A": 1 << 15,
    "major of B": 1 << 16,
    "N": 1 << 22,
    "M": 1 << 27,
    "shift": 1 << 30,
    "unused bit": 1 << 29,
}


def altered_tcgen05(ptx: str) -> Iterator[Mutant]:
    """Yield each mutant in which one operand of one tcgen05 instruction is changed."""
    for m in _MULTIPLY.finditer(ptx):
        for name in ("a", "b"):
            for field, bits in SHARED_FIELDS.items() if m[name] else ():
                yield _changed(m, name, f"{field} of {name.upper()}", "b64", f"xor.b64 %mutant, {m[name]}, {bits};")
        for field, bits in INSTRUCTION_FIELDS.items():
            yield _changed(m, "word", field, "b32", f"xor.b32 %mutant, {m['word']}, {bits};")
        yield _changed(m, "d", "column of D", "b32", f"add.s32 %mutant, {m['d']}, 1;")
        yield _changed(m, "accumulate", "the other accumulation", "pred", f"not.pred %mutant, {m['accumulate']};")
    for m in _COMMIT.finditer(ptx):
        yield _changed(m, "barrier", "the next barrier", "b32", f"add.s32 %mutant, {m['barrier']}, 8;")
        for bit in (0, 1, 2) if m["blocks"] else ():
            yield _changed(m, "blocks", f"blocks ^ {1 << bit}", "b16", f"xor.b16 %mutant, {m['blocks']}, {1 << bit};")
    for m in _LOAD.finditer(ptx):
        yield _changed(m, "address", "next column", "b32", f"add.s32 %mutant, {m['address']}, 1;")
        yield _changed(m, "address", "next quarter", "b32", f"xor.b32 %mutant, {m['address']}, {1 << 21};")
    for m in _SIZED.finditer(ptx):
        yield _changed(m, "columns", "half the columns", "b32", f"shr.u32 %mutant, {m['columns']}, 1;")
        yield _changed(m, "columns", "twice the columns", "b32", f"shl.b32 %mutant, {m['columns']}, 1;")


def _changed(m: re.Match, name: str, how: str, kind: str, code: str) -> Mutant:
    """The mutant in which one operand is replaced by a register that `code` sets."""
    (begin, end), (first, last) = m.span(), m.span(name)
    text = f"{{ .reg .{kind} %mutant; {code} {m.string[begin:first]}%mutant{m.string[last:end]} }}"
    line = m.string.count("\n", 0, begin) + 1
    return Mutant(line, f"{m[0]} → {how}", m.string[:begin] + text + m.string[end:])
