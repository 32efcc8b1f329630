"""Reads one instruction of LLVM IR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from llvm_ir_to_ptx.reading.cursor import Cursor, bare, unescaped, words
from llvm_ir_to_ptx.reading.types import BOOLEAN, VOID, Integer, Pointer, Struct, Type, Vector, part_at
from llvm_ir_to_ptx.reading.values import Typed, Value
from llvm_ir_to_ptx.unsupported import UnsupportedIR, shortened

BINARY = words(
    """
    add sub mul shl lshr ashr and or xor udiv sdiv urem srem fadd fsub fmul fdiv frem
    """
)
CONVERSIONS = words(
    """
    zext sext trunc fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint ptrtoaddr inttoptr bitcast
    addrspacecast
    """
)
FLAGS = words(
    """
    nuw nsw exact disjoint inbounds nusw fast contract nnan ninf nsz arcp afn reassoc nneg volatile
    samesign atomic weak
    """
)
ORDERINGS = words(
    """
    unordered monotonic acquire release acq_rel seq_cst
    """
)
ENDS = words("br ret switch unreachable")  # what a block ends with
_ASSIGNED = re.compile(r'%("[^"]*"|[-\w.$]+) = ')
_DEBUG = re.compile(r", !dbg !(\d+)")
_METADATA = re.compile(r"(?:,? ![\w.]+ ![\w.]+)+$")
_ASM = re.compile(
    r"(?:(?:tail|notail|musttail) )?call (?P<before>.*?) ?\basm (?P<words>(?:[a-z]+ )*)"
    r'"(?P<template>(?:[^"\\]|\\.)*)", "(?P<constraints>(?:[^"\\]|\\.)*)"\((?P<operands>.*)$'
)


@dataclass
class Instruction:
    """One instruction; the fields that its operation does not have keep their defaults.

    name: the value that it defines, or None.   type: of that value.   operands: the values that it reads, in order; the
    address of a load comes first and that of a store last.   element: the type that getelementptr steps over or that
    alloca makes room for.   targets: the labels that a branch goes to, that of a condition that holds first; of a
    switch the default first, then one for each of `cases`.   incoming: of a phi, the value from each block.
    callee: the function's name; "" if the first operand is its address.   indices: of extractvalue, insertvalue and
    shufflevector.   predicate: of a comparison, or the operation of atomicrmw.   align: in bytes, 0 if it is not
    written.   debug: number of the location in the metadata.
    """

    op: str
    text: str
    name: str | None = None
    type: Type = VOID
    operands: tuple[Typed, ...] = ()
    flags: frozenset[str] = frozenset()
    debug: str | None = None
    element: Type = VOID
    targets: tuple[str, ...] = ()
    cases: tuple[int, ...] = ()
    incoming: tuple[tuple[Value, str], ...] = ()
    callee: str = ""
    attributes: tuple[Mapping[str, str], ...] = ()
    indices: tuple[int, ...] = ()
    predicate: str = ""
    align: int = 0
    ordering: str = ""
    scope: str = ""
    template: str = ""
    constraints: tuple[str, ...] = field(default=())


def read_instruction(line: str, named: Mapping[str, Type]) -> Instruction:
    """The instruction that a line of a function's body holds. Raises `UnsupportedIR` for one that is not known here.

    named: the named types of the module.
    """
    text = line.strip()
    debug = found[1] if (found := _DEBUG.search(text)) else None
    text = _METADATA.sub("", text)
    assigned = _ASSIGNED.match(text)
    body = text[assigned.end() :] if assigned else text
    asm = _ASM.match(body)
    instruction = _read_asm(asm, body, named) if asm else _read(Cursor(body, named), body)
    instruction.debug = debug
    instruction.name = bare(assigned[1]) if assigned else None
    return instruction


def _read(cursor: Cursor, text: str) -> Instruction:
    op = cursor.next()
    if op in ("tail", "notail", "musttail"):
        op = cursor.next()
    reader = _READERS.get(op)
    if reader is None:
        raise UnsupportedIR(f"The instruction “{shortened(text)}”")
    flags = frozenset(cursor.skip_words(FLAGS))
    instruction = Instruction(op, text, flags=flags)
    reader(cursor, instruction)
    return instruction


def _two(cursor: Cursor) -> tuple[Typed, Typed]:
    """Two operands of one type, which is written once."""
    left = cursor.typed()
    cursor.need(",")
    return left, Typed(left.type, cursor.value(left.type))


def _binary(cursor: Cursor, into: Instruction) -> None:
    into.operands = _two(cursor)
    into.type = into.operands[0].type


def _same(cursor: Cursor, into: Instruction) -> None:
    into.operands = (cursor.typed(),)
    into.type = into.operands[0].type


def _comparison(cursor: Cursor, into: Instruction) -> None:
    into.predicate = cursor.next()
    into.operands = _two(cursor)
    of = into.operands[0].type
    into.type = Vector(of.count, BOOLEAN) if isinstance(of, Vector) else BOOLEAN


def _conversion(cursor: Cursor, into: Instruction) -> None:
    into.operands = (cursor.typed(),)
    cursor.need("to")
    into.type = cursor.type()


def _listed(cursor: Cursor, into: Instruction) -> None:
    """Typed operands with commas between them, up to the end."""
    operands = [cursor.typed()]
    while cursor.take(","):
        if cursor.peek() == "align":
            into.align = cursor.alignment()
        else:
            operands.append(cursor.typed())
    into.operands = tuple(operands)


def _select(cursor: Cursor, into: Instruction) -> None:
    _listed(cursor, into)
    into.type = into.operands[1].type


def _getelementptr(cursor: Cursor, into: Instruction) -> None:
    into.element = cursor.type()
    cursor.need(",")
    _listed(cursor, into)
    into.type = into.operands[0].type


def _memory_words(cursor: Cursor, into: Instruction) -> None:
    """What follows the operands of an access: scope, orderings and alignment."""
    while cursor.peek():
        if cursor.take("syncscope"):
            cursor.need("(")
            into.scope = cursor.next().strip('"')
            cursor.need(")")
        elif cursor.peek() in ORDERINGS:
            into.ordering = into.ordering or cursor.peek()
            cursor.next()
        elif cursor.peek() == "align":
            into.align = cursor.alignment()
        elif not cursor.take(","):
            raise cursor.unreadable()


def _load(cursor: Cursor, into: Instruction) -> None:
    into.type = cursor.type()
    cursor.need(",")
    into.operands = (cursor.typed(),)
    _memory_words(cursor, into)


def _store(cursor: Cursor, into: Instruction) -> None:
    value = cursor.typed()
    cursor.need(",")
    into.operands = (value, cursor.typed())
    _memory_words(cursor, into)


def _atomicrmw(cursor: Cursor, into: Instruction) -> None:
    into.predicate = cursor.next()
    address = cursor.typed()
    cursor.need(",")
    into.operands = (address, cursor.typed())
    into.type = into.operands[1].type
    _memory_words(cursor, into)


def _cmpxchg(cursor: Cursor, into: Instruction) -> None:
    address = cursor.typed()
    cursor.need(",")
    expected = cursor.typed()
    cursor.need(",")
    into.operands = (address, expected, cursor.typed())
    into.type = Struct((expected.type, BOOLEAN))
    _memory_words(cursor, into)


def _alloca(cursor: Cursor, into: Instruction) -> None:
    into.element = cursor.type()
    into.type = Pointer()
    while cursor.take(","):
        if cursor.peek() == "align":
            into.align = cursor.alignment()
        elif cursor.peek() == "addrspace":
            into.type = Pointer(cursor.space())
        else:
            raise cursor.unreadable()


def _phi(cursor: Cursor, into: Instruction) -> None:
    into.type = cursor.type()
    incoming: list[tuple[Value, str]] = []
    while not incoming or cursor.take(","):
        cursor.need("[")
        value = cursor.value(into.type)
        cursor.need(",")
        incoming.append((value, bare(cursor.next())))
        cursor.need("]")
    into.incoming = tuple(incoming)


def _label(cursor: Cursor) -> str:
    cursor.need("label")
    return bare(cursor.next())


def _branch(cursor: Cursor, into: Instruction) -> None:
    if cursor.peek() == "label":
        into.targets = (_label(cursor),)
        return
    into.operands = (cursor.typed(),)
    cursor.need(",")
    yes = _label(cursor)
    cursor.need(",")
    into.targets = (yes, _label(cursor))


def _switch(cursor: Cursor, into: Instruction) -> None:
    into.operands = (cursor.typed(),)
    cursor.need(",")
    targets, cases = [_label(cursor)], []
    cursor.need("[")
    while not cursor.take("]"):
        of = cursor.type()
        if not isinstance(of, Integer):
            raise cursor.unreadable()
        cases.append(cursor.number())
        cursor.need(",")
        targets.append(_label(cursor))
    into.targets, into.cases = tuple(targets), tuple(cases)


def _return(cursor: Cursor, into: Instruction) -> None:
    if not cursor.take("void"):
        into.operands = (cursor.typed(),)


def _nothing(cursor: Cursor, into: Instruction) -> None:
    """An instruction without operands."""


def _indices(cursor: Cursor) -> tuple[int, ...]:
    found = []
    while cursor.take(","):
        found.append(cursor.number())
    return tuple(found)


def _extractvalue(cursor: Cursor, into: Instruction) -> None:
    into.operands = (cursor.typed(),)
    into.indices = _indices(cursor)
    into.type = part_at(into.operands[0].type, into.indices)[1]


def _insertvalue(cursor: Cursor, into: Instruction) -> None:
    whole = cursor.typed()
    cursor.need(",")
    into.operands = (whole, cursor.typed())
    into.indices = _indices(cursor)
    into.type = whole.type


def _extractelement(cursor: Cursor, into: Instruction) -> None:
    _listed(cursor, into)
    of = into.operands[0].type
    into.type = of.element if isinstance(of, Vector) else VOID


def _insertelement(cursor: Cursor, into: Instruction) -> None:
    _listed(cursor, into)
    into.type = into.operands[0].type


def _shufflevector(cursor: Cursor, into: Instruction) -> None:
    _listed(cursor, into)
    source, mask = into.operands[0].type, into.operands[2].type
    if isinstance(source, Vector) and isinstance(mask, Vector):
        into.type = Vector(mask.count, source.element)


def _fence(cursor: Cursor, into: Instruction) -> None:
    _memory_words(cursor, into)


def _call(cursor: Cursor, into: Instruction) -> None:
    cursor.attributes()
    into.type = cursor.type()
    if cursor.take("("):  # the type of a function with a variable number of arguments
        while cursor.next() not in (")", ""):
            pass
    cursor.attributes()
    operands: list[Typed] = []
    attributes: list[Mapping[str, str]] = []
    if cursor.peek()[:1] == "@":
        into.callee = bare(cursor.next())
    else:
        operands.append(Typed(Pointer(), cursor.value(Pointer())))
        attributes.append({})
    cursor.need("(")
    while not cursor.take(")"):
        if cursor.peek() == "metadata":  # only calls that say nothing about the program have it
            return
        of = cursor.type()
        attributes.append(cursor.attributes())
        operands.append(Typed(of, cursor.value(of)))
        if not cursor.take(",") and cursor.peek() != ")":
            raise cursor.unreadable()
    into.operands, into.attributes = tuple(operands), tuple(attributes)


def _read_asm(found: re.Match[str], text: str, named: Mapping[str, Type]) -> Instruction:
    before, operands = Cursor(found["before"], named), Cursor(found["operands"], named)
    before.attributes()
    constraints = unescaped(found["constraints"]).decode("latin-1")
    return Instruction(
        "asm",
        text,
        type=before.type(),
        operands=operands.typed_list(")"),
        flags=frozenset(found["words"].split()),
        template=unescaped(found["template"]).decode("latin-1"),
        constraints=tuple(constraints.split(",")) if constraints else (),
    )


_READERS = {
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(CONVERSIONS, _conversion),
    "alloca": _alloca,
    "atomicrmw": _atomicrmw,
    "br": _branch,
    "call": _call,
    "cmpxchg": _cmpxchg,
    "extractelement": _extractelement,
    "extractvalue": _extractvalue,
    "fcmp": _comparison,
    "fence": _fence,
    "fneg": _same,
    "freeze": _same,
    "getelementptr": _getelementptr,
    "icmp": _comparison,
    "insertelement": _insertelement,
    "insertvalue": _insertvalue,
    "load": _load,
    "phi": _phi,
    "ret": _return,
    "select": _select,
    "shufflevector": _shufflevector,
    "store": _store,
    "switch": _switch,
    "unreachable": _nothing,
}
