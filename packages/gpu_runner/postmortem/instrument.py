"""Inserts checks into a kernel's PTX: before every memory access, every backward branch and every barrier.

The checks find the line of a fault. They compare an address with the arrays that the kernel was given and with the
alignment that the access needs, a shared-memory address with the size of the block's shared memory, and, at a backward
branch, the elapsed time with a limit. The first thread that fails a check writes a report to host memory, which can be
read after a fault, and stops the kernel. The warps of block (0, 0, 0) record the barrier at which they wait. This file
only changes text; `autopsy.py` runs the result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gpu_runner.postmortem.ptx_text import Statement, files, statements

CHECKS = Path(__file__).with_name("checks.ptx")
MOST_RANGES = 64
OUTSIDE, MISALIGNED, SHARED_OUTSIDE, SHARED_MISALIGNED, TOO_LONG = 1, 2, 3, 4, 5
_TYPE = re.compile(r"^(?:[bsuf](\d+)|(f16x2|bf16x2|bf16|e4m3|e5m2))$")
_BRACKET = re.compile(r"\[([^\]]*)\]")
_BARRIERS = re.compile(r"^(bar|barrier)(\.cta)?\.(sync|red)\b|^barrier\.cluster\.wait\b")


@dataclass(frozen=True)
class Site:
    """A checked instruction: what it does, the bytes that it accesses, and its source lines, innermost frame first."""

    number: int
    what: str
    instruction: str
    size: int
    frames: tuple[tuple[str, int], ...]  # (file, line)


@dataclass(frozen=True)
class Instrumented:
    """The new PTX, its sites by number, and the names of the module's `.global` variables, which are allowed too."""

    ptx: str
    sites: tuple[Site, ...]
    variables: tuple[str, ...]


def instrument(ptx: str) -> Instrumented:
    """Insert the checks into a PTX module. The result has to be assembled by the driver (or ptxas)."""
    table = files(ptx)
    sites: list[Site] = []
    edits: list[tuple[int, str]] = []

    def add(statement: Statement, what: str, size: int) -> int:
        frames = tuple((table.get(number, ""), line) for number, line, _ in statement.frames)
        sites.append(Site(len(sites), what, statement.text, size, frames))
        return sites[-1].number

    for statement in statements(ptx):
        root = statement.opcode.split(".")[0]
        if root == "bra":
            target = statement.operands.split(",")[0].strip()
            if statement.passed(target):
                edits.append((statement.start, _call(statement, "gemmlab_time", [(32, add(statement, "jump", 0))])))
        elif _BARRIERS.match(statement.opcode):
            number = add(statement, "barrier", 0)
            edits.append((statement.start, _call(statement, "gemmlab_mark", [(32, number + 1)])))
            edits.append((statement.end, _call(statement, "gemmlab_mark", [(32, 0)])))
        else:
            for access in _accesses(statement):
                number = add(statement, access.what, access.size)
                edits.append((statement.start, _check(statement, access, number)))
    variables = re.findall(r"^\s*(?:\.visible\s+|\.weak\s+)?\.global\s[^;\[=]*?([\w$]+)\s*(?:\[|=|;)", ptx, re.M)
    body = ptx
    for offset, text in sorted(edits, key=lambda edit: edit[0], reverse=True):
        body = body[:offset] + text + body[offset:]
    head = re.search(r"\.address_size\s+\d+", body)
    body = body[: head.end()] + _prelude(ptx) + body[head.end() :]
    return Instrumented(body, tuple(sites), tuple(variables))


def with_version(ptx: str, version: tuple[int, int]) -> str:
    """The same PTX, with its `.version` lowered to `version` if it is higher, for an older driver."""
    match = re.search(r"(\.version\s+)(\d+)\.(\d+)", ptx)
    if not match or (int(match[2]), int(match[3])) <= version:
        return ptx
    return ptx[: match.start()] + f"{match[1]}{version[0]}.{version[1]}" + ptx[match.end() :]


# ---- What an instruction touches ----


@dataclass(frozen=True)
class _Access:
    what: str  # "read", "write" or "atomic"
    space: str  # "global", "shared", "generic" or "matrix" (rows of 16 bytes from some lanes)
    address: str
    size: int
    align: int
    size_register: str | None = None
    lanes: int = 32


def _accesses(statement: Statement) -> list[_Access]:
    parts = statement.opcode.split(".")
    root, brackets = parts[0], _BRACKET.findall(statement.operands)
    if not brackets or any("cluster" in part for part in parts):
        return _bulk(statement, parts, brackets)
    space = next(
        (p.split("::")[0] for p in parts if p.split("::")[0] in ("global", "shared", "local", "param", "const")),
        "generic",
    )
    if root in ("ld", "ldu", "st", "atom", "red") and not {"async", "bulk"} & set(parts):
        if space in ("local", "param", "const"):
            return []
        size = _bytes(parts)
        what = {"ld": "read", "ldu": "read", "st": "write"}.get(root, "atomic")
        return [_Access(what, space, brackets[0], size, size)] if size else []
    if root == "cp" and parts[1:2] == ["async"] and "bulk" not in parts and len(brackets) >= 2:
        rest = [part.strip() for part in statement.operands.rsplit("]", 1)[1].split(",") if part.strip()]
        if not rest or not rest[0].isdigit():
            return []
        size, dynamic = int(rest[0]), rest[1] if len(rest) > 1 else None
        if dynamic is not None and statement.bits(dynamic) != 32 and not dynamic.isdigit():
            return [_Access("write", "shared", brackets[0], size, size)]
        return [
            _Access("write", "shared", brackets[0], size, size),
            _Access("read", "global", brackets[1], size, size, dynamic),
        ]
    if root in ("ldmatrix", "stmatrix"):
        count = next((int(part[1:]) for part in parts if re.fullmatch(r"x[124]", part)), 1)
        return [_Access("read" if root == "ldmatrix" else "write", "matrix", brackets[0], 16, 16, lanes=8 * count)]
    if root == "mbarrier" and space == "shared":
        return [_Access("atomic", "shared", brackets[0], 8, 8)]
    if root == "wmma" and parts[1] in ("load", "store"):
        return _wmma(statement, parts, brackets[0], space)
    return []


def _bulk(statement: Statement, parts: list[str], brackets: list[str]) -> list[_Access]:
    """The access to global memory of a cp.async.bulk without a tensor map; an operand gives its size in bytes."""
    if parts[:3] != ["cp", "async", "bulk"] or "tensor" in parts or len(brackets) < 2 or "prefetch" in parts:
        return []
    sizes = re.search(r"\]\s*,\s*([\w$%]+)\s*(?:,|$)", statement.operands.split("]", 1)[1] if brackets else "")
    spaces = [part for part in parts if part.split("::")[0] in ("global", "shared")]
    if not sizes or len(spaces) < 2 or (statement.bits(sizes[1]) != 32 and not sizes[1].isdigit()):
        return []
    if spaces[1] == "global":
        return [_Access("read", "global", brackets[1], 16, 16, sizes[1])]
    if spaces[0] == "global":
        return [_Access("write", "global", brackets[0], 16, 16, sizes[1])]
    return []


def _wmma(statement: Statement, parts: list[str], address: str, space: str) -> list[_Access]:
    shape = next((re.fullmatch(r"m(\d+)n(\d+)k(\d+)", p) for p in parts if re.fullmatch(r"m\d+n\d+k\d+", p)), None)
    size = _bytes([parts[-1]])
    if shape is None or not size:
        return []
    m, n, k = (int(group) for group in shape.groups())
    rows, columns = {"a": (m, k), "b": (k, n)}.get(parts[2], (m, n))
    lines, length = (rows, columns) if "row" in parts else (columns, rows)
    tail = re.findall(r"[\w$%]+", statement.operands.rsplit("]", 1)[1].split("}")[-1])
    what = "read" if parts[1] == "load" else "write"
    if tail and (statement.bits(tail[-1]) == 32 or tail[-1].isdigit()):
        span = f"{tail[-1]}:{(lines - 1) * size}:{length * size}"  # stride : bytes per unit of stride : last line
        return [_Access(what, space, address, length * size, 1, span)]
    return [_Access(what, space, address, lines * length * size, 1)]


def _bytes(parts: list[str]) -> int:
    matches = [match for match in map(_TYPE.match, parts) if match]
    if not matches:
        return 0
    match = matches[-1]
    bits = int(match[1]) if match[1] else {"f16x2": 32, "bf16x2": 32, "bf16": 16}.get(match[2], 8)
    vector = next((int(part[1:]) for part in parts if re.fullmatch(r"v[248]", part)), 1)
    return bits // 8 * vector


# ---- The inserted code ----


def _check(statement: Statement, access: _Access, number: int) -> str:
    match = re.match(r"\s*([\w$%]+)\s*(?:\+\s*(-?\s*\w+))?\s*$", access.address)
    bits = statement.bits(match[1]) if match else None
    if bits not in (32, 64):
        return ""  # the address of a variable, which the assembler has checked
    offset = (match[2] or "0").replace(" ", "")
    lines = [
        f"cvt.u64.u32 gemmlab_t, {match[1]};" if bits == 32 else f"mov.b64 gemmlab_t, {match[1]};",
        f"add.s64 gemmlab_t, gemmlab_t, {offset};",
    ]
    size: object = access.size
    if access.size_register and ":" in access.size_register:
        stride, unit, last = access.size_register.split(":")
        lines += [
            ".reg .b32 gemmlab_z;",
            f"mov.b32 gemmlab_z, {stride};",
            f"mad.lo.u32 gemmlab_z, gemmlab_z, {unit}, {last};",
        ]
        size = "gemmlab_z"
    elif access.size_register:
        size = access.size_register
    function = {"global": "gemmlab_global", "shared": "gemmlab_shared", "matrix": "gemmlab_matrix"}.get(
        access.space, "gemmlab_generic"
    )
    limit = access.lanes if access.space == "matrix" else access.align - 1
    return _call(
        statement,
        function,
        [(64, "gemmlab_t"), (32, size), (32, limit), (32, number)],
        [".reg .b64 gemmlab_t;", *lines],
    )


def _call(statement: Statement, function: str, arguments: list[tuple[int, object]], first: list[str] = ()) -> str:
    lines = [*first]
    for index, (bits, value) in enumerate(arguments):
        lines += [f".param .b{bits} gemmlab_p{index};", f"st.param.b{bits} [gemmlab_p{index}], {value};"]
    names = ", ".join(f"gemmlab_p{index}" for index in range(len(arguments)))
    return "\n{\n" + "\n".join([*lines, f"{statement.guard}call {function}, ({names});"]) + "\n}\n"


def _prelude(ptx: str) -> str:
    target = int(re.search(r"\.target\s+sm_(\d+)", ptx)[1])
    aligns = [int(number) for number in re.findall(r"\.extern\s+\.shared\s+\.align\s+(\d+)", ptx)]
    cluster = "isspacep.shared::cluster p, a;\n@p bra DONE;\n" if target >= 90 else ""
    rank = "and.b32 n, n, 0xffffff;\nand.b64 e, e, 0xffffff;" if target >= 90 else ""  # from bit 24 on: cluster rank
    return "\n" + (
        CHECKS.read_text(encoding="utf-8")
        .replace("@RANK", rank)
        .replace("@ALIGN", str(max([16, *aligns])))
        .replace("@RANGES", str(1 + 2 * MOST_RANGES))
        .replace("@CLUSTER", cluster)
    )
