"""Reads a module of LLVM IR: its named types, variables, functions and debug positions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from llvm_ir_to_ptx.reading.cursor import Cursor, bare
from llvm_ir_to_ptx.reading.debug_lines import DebugLines
from llvm_ir_to_ptx.reading.instructions import ENDS, Instruction, read_instruction
from llvm_ir_to_ptx.reading.types import Type, align_of
from llvm_ir_to_ptx.reading.values import Value
from llvm_ir_to_ptx.unsupported import UnsupportedIR, shortened

_NAME = r'(?:"[^"]*"|[-\w.$]+)'
_TYPE = re.compile(rf"%({_NAME}) = type (.*)")
_VARIABLE = re.compile(rf"@({_NAME}) = (.*?)\b(global|constant) (.*)")
_ALIAS = re.compile(rf"@({_NAME}) = .*\b(?:alias|ifunc)\b")
_FUNCTION = re.compile(rf"(define|declare) (.*?)@({_NAME})\((.*)")
_ATTRIBUTES = re.compile(r"attributes (#\d+) = \{(.*)\}")
_SETTING = re.compile(r'"([^"]+)"(?:="([^"]*)")?')
_LABEL = re.compile(rf"({_NAME}):")
_OF_KERNEL = re.compile(r"\bptx_kernel\b")
_ANNOTATED = re.compile(rf'!\d+ = !\{{ptr @({_NAME}), !"kernel", i32 1\}}')


@dataclass
class Variable:
    """A variable of the module. `initial` is None for one that is declared only, or has no initial value."""

    name: str
    space: int
    type: Type
    align: int
    external: bool
    initial: Value | None


@dataclass
class Parameter:
    """A parameter; `by_value` is the type of what a pointer stands for that is passed by value, or None."""

    name: str
    type: Type
    by_value: Type | None
    attributes: Mapping[str, str]


@dataclass
class Block:
    """A basic block: instructions of which the last one branches or returns."""

    label: str
    instructions: list[Instruction]


@dataclass
class Function:
    """A kernel or device function; one without `blocks` is only declared. `settings` are its attributes."""

    name: str
    result: Type
    parameters: list[Parameter]
    is_kernel: bool
    settings: dict[str, str] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Module:
    """What the text of LLVM IR says."""

    variables: dict[str, Variable]
    functions: dict[str, Function]
    debug: DebugLines


def read_module(text: str) -> Module:
    """The module in a text. Raises `UnsupportedIR` for what cannot be read, with the source line where it is known."""
    lines = text.split("\n")
    debug, named = DebugLines(lines), _named_types(lines)
    settings = {found[1]: dict(_SETTING.findall(found[2])) for line in lines if (found := _ATTRIBUTES.match(line))}
    annotated = {bare(found[1]) for line in lines if (found := _ANNOTATED.match(line))}
    variables: dict[str, Variable] = {}
    functions: dict[str, Function] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("@"):
            variable = _variable(line, named)
            variables[variable.name] = variable
        elif (found := _FUNCTION.match(line)) and not found[4].startswith("metadata"):  # for the optimiser alone
            function = _header(found, named, settings)
            function.is_kernel = function.is_kernel or function.name in annotated
            functions[function.name] = function
            if found[1] == "define":
                end = at
                while end < len(lines) and lines[end] != "}":
                    end += 1
                function.blocks = _blocks(lines[at:end], function, named, debug)
                _check_ends(function)
                at = end
    return Module(variables, functions, debug)


def _named_types(lines: list[str]) -> dict[str, Type]:
    """The named types of a module, which may refer to each other in any order."""
    texts = {bare(found[1]): found[2] for line in lines if (found := _TYPE.match(line))}
    named: dict[str, Type] = {}
    while texts:
        before = len(texts)
        for name, text in list(texts.items()):
            if text == "opaque":
                del texts[name]
                continue
            if all(bare(other) in named for other in re.findall(rf"%{_NAME}", text)):
                named[name] = Cursor(text, named).type()
                del texts[name]
        if len(texts) == before:
            break
    return named


def _variable(line: str, named: Mapping[str, Type]) -> Variable:
    found = _VARIABLE.match(line)
    if found is None:
        name = alias[1] if (alias := _ALIAS.match(line)) else line
        raise UnsupportedIR(f"The alias {bare(name)}")
    words, cursor = Cursor(found[2], named), Cursor(found[4], named)
    space = 0
    while words.peek():
        space = words.space() or space
        words.next()
    of = cursor.type()
    external = bool(re.search(r"\b(?:external|extern_weak|available_externally)\b", found[2]))
    initial = None if external or cursor.peek() in ("", ",") else cursor.value(of)
    align = int(known[1]) if (known := re.search(r", align (\d+)", found[4])) else align_of(of)
    return Variable(bare(found[1]), space, of, align, external, initial)


def _header(found: re.Match[str], named: Mapping[str, Type], settings: Mapping[str, dict[str, str]]) -> Function:
    before, cursor = Cursor(found[2], named), Cursor(found[4], named)
    before.attributes()
    result = before.type()
    parameters: list[Parameter] = []
    while not cursor.take(")"):
        if cursor.take("..."):
            continue
        of = cursor.type()
        attributes = cursor.attributes()
        by_value = Cursor(attributes["byval"], named).type() if "byval" in attributes else None
        name = bare(cursor.next()) if cursor.peek()[:1] == "%" else str(len(parameters))
        parameters.append(Parameter(name, of, by_value, attributes))
        if not cursor.take(",") and cursor.peek() != ")":
            raise cursor.unreadable()
    own: dict[str, str] = {}
    for group in re.findall(r"#\d+", found[4]):
        own |= settings.get(group, {})
    return Function(bare(found[3]), result, parameters, bool(_OF_KERNEL.search(found[2])), own)


def _blocks(lines: list[str], function: Function, named: Mapping[str, Type], debug: DebugLines) -> list[Block]:
    unnamed = sum(parameter.name.isdigit() for parameter in function.parameters)
    blocks: list[Block] = []
    for line in _whole(lines):
        label = _LABEL.match(line)
        if label or not blocks:
            blocks.append(Block(bare(label[1]) if label else str(unnamed), []))
        if not label:
            try:
                blocks[-1].instructions.append(read_instruction(line, named))
            except (UnsupportedIR, IndexError) as error:
                number = found[1] if (found := re.search(r"!dbg !(\d+)", line)) else None
                told = error.construct if isinstance(error, UnsupportedIR) else f"The instruction “{shortened(line)}”"
                raise UnsupportedIR(told, debug.where(number)) from error
    return blocks


def _check_ends(function: Function) -> None:
    """Raise `UnsupportedIR` for a function with a block that does not end, or that leads nowhere."""
    labels = {block.label for block in function.blocks}
    for block in function.blocks:
        last = block.instructions[-1] if block.instructions else None
        if last is None or last.op not in ENDS or not labels.issuperset(last.targets):
            raise UnsupportedIR(f"The block {block.label} of {function.name}, which has no end or leads nowhere,")
    if not labels:
        raise UnsupportedIR(f"The function {function.name}, which has no instruction,")


def _whole(lines: list[str]) -> list[str]:
    """The lines of a body with each instruction in one; those of a switch are joined, and debug records left out."""
    whole: list[str] = []
    is_open = False
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith(("#dbg", ";")):
            continue
        if is_open:
            whole[-1] += " " + stripped
            is_open = not stripped.startswith("]")
        else:
            whole.append(line)
            is_open = stripped.startswith("switch ") and "]" not in stripped
    return whole
