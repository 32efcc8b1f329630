"""Mutants of a kernel's PTX: one barrier, fence, wait, commit or mbarrier operation deleted or altered, or one ordered
access made a plain one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SYNCHRONISATION = re.compile(
    r"^[ \t]*(?:@!?[%\w$]+\s+)?((?:bar|barrier|membar|fence|cp\.async\.(?:wait|commit)"
    r"|cp\.async\.bulk\.(?:wait|commit)|cp\.async\.mbarrier|mbarrier\.(?:init|arrive|expect_tx|complete_tx)"
    r"|wgmma\.(?:fence|commit_group|wait_group)|tcgen05\.(?:dealloc|relinquish|commit|wait|fence)"
    r")[\w.:]*[^;\n]*);",
    re.M,
)
_ORDERED = re.compile(
    r"^[ \t]*(?:@!?[%\w$]+\s+)?((?:ld|st)\b[\w.:]*?\.(volatile|(?:relaxed|acquire|release)\.\w+)\b[^;\n]*);", re.M
)
_WAIT = re.compile(
    r"(?<![\w.])(mbarrier\.(?:test|try)_wait(?P<parity>\.parity)?[\w.:]*\s+(?P<answer>[%\w$]+),\s*\[[^\]]*\],\s*"
    r"(?P<phase>[%\w$]+)[^;\n]*;)"
)
_EXPECT = re.compile(
    r"(?<![\w.])(mbarrier\.(?:arrive\.)?expect_tx[\w.:]*\s+(?:[%\w$]+,\s*)?\[[^\]]*\],\s*(?P<bytes>[%\w$]+);)"
)
_MULTIPLY = re.compile(
    r"(?<![\w.])(wgmma\.mma_async[\w.:]*\s+\{[^}]*\},\s*(?:\{[^}]*\}|(?P<a>[%\w$]+)),\s*(?P<b>[%\w$]+),[^;]*;)"
)
_GROUP_WAIT = re.compile(r"(?<![\w.])(wgmma\.wait_group[\w.:]*\s+(?P<newest>\d+)\s*;)")
# Field of a wgmma matrix descriptor -> the bits that a mutant flips.
_FIELDS = {
    "start": 1 << 1,
    "leading offset": 1 << 17,
    "stride offset": 1 << 36,
    "base offset": 1 << 49,
    "swizzle": 3 << 62,
}

_MULTICAST = re.compile(
    r"(?<![\w.])(cp\.async\.bulk[\w.:]*\.multicast::cluster[\w.:]*\s+\[[^\]]*\],\s*\[[^\]]*\],\s*(?:[%\w$]+,\s*)?"
    r"\[[^\]]*\],\s*(?P<mask>[%\w$]+)[^;\n]*;)"
)
_MAPA = re.compile(r"(?<![\w.])(mapa[\w.:]*\s+[%\w$]+,\s*[%\w$]+,\s*(?P<rank>[%\w$]+);)")
_ARRIVE = re.compile(r"(?<![\w.])barrier\.cluster\.arrive(?:\.release)?(?P<aligned>\.aligned)?;")


class Mutant(NamedTuple):
    """PTX with one statement deleted or altered; `line` is the statement's line in the original."""

    line: int
    statement: str
    ptx: str


def mutants(ptx: str, pattern: re.Pattern = _SYNCHRONISATION) -> Iterator[Mutant]:
    """Yield a mutant without each statement that matches `pattern`. Line numbers do not change."""
    for m in pattern.finditer(ptx):
        blank = re.sub(r"[^\n]", " ", m[0])
        yield Mutant(ptx.count("\n", 0, m.start(1)) + 1, m[1].strip(), ptx[: m.start()] + blank + ptx[m.end() :])


def altered_mbarriers(ptx: str) -> Iterator[Mutant]:
    """Yield each mutant in which one wait on an mbarrier always succeeds or tests the other parity, or in which one
    expect_tx announces 16 bytes too many or too few.
    """
    for m in _WAIT.finditer(ptx):
        yield _changed(m, "→ always over", f"setp.eq.u32 {m['answer']}, 0, 0;", *m.span())
        if m["parity"]:
            yield _changed(m, "→ the other parity", *_recomputed(m, "phase", "xor.b32", 1))
    for m in _EXPECT.finditer(ptx):
        for more in (16, -16):
            yield _changed(m, f"→ {more:+} bytes", *_recomputed(m, "bytes", "add.s32", more))


def altered_wgmma(ptx: str) -> Iterator[Mutant]:
    """Yield each mutant in which one wgmma.wait_group leaves one more group in flight, or in which one field of one
    matrix descriptor of a wgmma is changed: start, offsets, base offset, swizzle.
    """
    for m in _GROUP_WAIT.finditer(ptx):
        newest = int(m["newest"]) + 1
        yield _changed(m, "→ one more", m[0].replace(m["newest"], str(newest)), *m.span())
    for m in _MULTIPLY.finditer(ptx):
        for name in ("a", "b"):
            for field, bits in _FIELDS.items() if m[name] else ():
                text, begin, end = _recomputed(m, name, "xor.b64", bits)
                yield _changed(m, f"→ {field} of {name}", text.replace(".reg .b32", ".reg .b64"), begin, end)


def _changed(m: re.Match, how: str, text: str, begin: int, end: int) -> Mutant:
    line = m.string.count("\n", 0, m.start()) + 1
    return Mutant(line, f"{m[0]} {how}", m.string[:begin] + text + m.string[end:])


def _recomputed(m: re.Match, name: str, opcode: str, value: int, kind: str = "b32") -> tuple[str, int, int]:
    """The statement with one operand replaced by `opcode operand, value`."""
    (begin, end), (first, last) = m.span(), m.span(name)
    before, after = m.string[begin:first], m.string[last:end]
    return f"{{ .reg .{kind} %mutant; {opcode} %mutant, {m[name]}, {value}; {before}%mutant{after} }}", begin, end


def weakened(ptx: str) -> Iterator[Mutant]:
    """Yield each mutant in which one volatile, relaxed, acquire or release access is a plain one."""
    for m in _ORDERED.finditer(ptx):
        begin, end = m.span(2)
        yield Mutant(ptx.count("\n", 0, m.start(1)) + 1, m[1].strip(), ptx[: begin - 1] + ptx[end:])


def altered_clusters(ptx: str) -> Iterator[Mutant]:
    """Yield each mutant in which one multicast goes to one block fewer or more, one mapa uses the neighbouring rank, or
    one arrival at barrier.cluster is relaxed.
    """
    for m in _MULTICAST.finditer(ptx):
        for bit in (1, 2, 4):
            yield _changed(m, f"→ mask ^ {bit}", *_recomputed(m, "mask", "xor.b16", bit, "b16"))
    for m in _MAPA.finditer(ptx):
        yield _changed(m, "→ rank ^ 1", *_recomputed(m, "rank", "xor.b32", 1))
    for m in _ARRIVE.finditer(ptx):
        yield _changed(m, "→ .relaxed", f"barrier.cluster.arrive.relaxed{m['aligned'] or ''};", *m.span())
