"""The rules for inline PTX in an answer: only instructions and declarations of registers, with matching braces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gemm_lab.notebook.judges.cuda_tokens import Token

_ASM = ("asm", "__asm__", "__asm")
_QUALIFIERS = ("volatile", "__volatile__", "__volatile", "inline", "__inline__")
_STRING = re.compile(r'"((?:\\.|[^"\\])*)"', re.S)
# The constraints of CUDA's inline PTX ("Inline PTX Assembly in CUDA") except "C", which inserts an array of characters,
# and so PTX that these rules would not see.
_CONSTRAINT = re.compile(r"[=+]?&?[hrlqfdn]|\d+")
_SPACES = re.compile(r"\b(?:ld|st|ldu|cvta|isspacep|prefetchu?|mapa)\b[\w.:]*\.(?:param|const)\b[\w.:]*")
# In PTX a statement that begins with a dot is a directive (PTX ISA, "Directives"); `.reg` only declares registers.
_DIRECTIVE = re.compile(r"(?:^|[;{}:\n])\s*(\.(?!reg\b)\w+)")
# Instructions whose first operand is a register, or several in braces, that they write.
_WRITES = re.compile(
    r"(?:abs|add|and|bfe|bfi|clz|cos|cvt|cvta|div|ex2|fma|ld|ldmatrix|ldu|lg2|lop3|mad|mad24|max|min|mma|mov|movmatrix|"
    r"mul|mul24|neg|not|or|popc|prmt|rcp|rsqrt|selp|shf|shfl|shl|shr|sin|sqrt|sub|tanh|wmma|xor)(?=[.\s])(?!\.store)"
)
_BEFORE = re.compile(r"(?:[{}\s]|\$?\w+:(?!:)|@!?[%\w\[\]]+\s)*")  # braces, labels and the predicate
_OPERAND = re.compile(r"%(?:(\d+)|\[(\w+)\])")


def without_comments(ptx: str) -> str:
    """The PTX with its comments replaced by spaces, so that offsets stay the same."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match[0]), ptx, flags=re.S)


def asm_refusals(cut: list[Token]) -> Iterator[tuple[int, str]]:
    """Yields (offset, reason) for every asm statement that is refused. `cut` has the tokens of an answer."""
    code = [token for token in cut if not token.blank]
    for number, token in enumerate(code):
        if token.text in _ASM:
            yield from ((token.offset, says) for says in _statement(code, number + 1))


def _statement(code: list[Token], start: int) -> Iterator[str]:
    """Yields reasons to refuse the asm statement whose qualifiers begin at `start`."""
    while start < len(code) and code[start].text in _QUALIFIERS:
        start += 1
    if start >= len(code) or code[start].mark != "(":
        yield 'asm takes its text in parentheses: asm volatile("…" : … );'
        return
    start += 1
    template: list[str] = []
    while start < len(code) and code[start].kind == "string":
        template.append(code[start].text)
        start += 1
    if not template or start >= len(code) or code[start].mark not in (":", ")"):
        yield "the text of asm has to be written out, as strings between quotation marks."
        return
    yield from _constraints(code, start)
    refused = list(_template(template))
    yield from refused or _written_inputs(_ptx(template), _operands(code, start))


def _constraints(code: list[Token], start: int) -> Iterator[str]:
    """Yields reasons to refuse the operands and clobbers from `start` up to the statement's closing parenthesis."""
    depth, parts = 0, 0
    for token in code[start:]:
        depth += (token.mark in ("(", "[")) - (token.mark in (")", "]"))
        if depth < 0:
            return
        parts += depth == 0 and token.mark == ":"
        if token.kind != "string" or depth:
            continue
        inside = token.text[token.text.index('"') + 1 : -1]
        clobber = parts >= 3 and re.fullmatch(r"\w+", inside)
        if not clobber and not _CONSTRAINT.fullmatch(inside):
            yield (
                f"“{inside}” is refused as a constraint of asm; operands are h, r, l, q, f, d or n, with = or + "
                "before them if they are written."
            )


def _template(strings: list[str]) -> Iterator[str]:
    """Yields reasons to refuse the PTX text: unmatched braces, directives, and anything else but instructions."""
    if any(not text.startswith('"') for text in strings):
        yield "the text of asm has to be plain strings, with no prefix."
        return
    quoted = _quoted(strings)
    if escape := re.search(r'\\[^nt"]', quoted):
        yield f"“{escape[0]}” in inline PTX: only \\n and \\t may stand for other characters."
        return
    if not quoted.isascii():
        yield "inline PTX is written in ASCII."
        return
    ptx = _ptx(strings)
    if "/*" in ptx or "*/" in ptx:
        yield "a comment in this inline PTX does not end."
    depth = 0
    for brace in re.findall(r"[{}]", ptx):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            break
    if depth:
        yield "the braces of this inline PTX do not match: it would leave its function."
    if directive := _DIRECTIVE.search(ptx):
        yield f"inline PTX may hold instructions and registers, but no “{directive[1]}”."
    if space := _SPACES.search(ptx):
        yield f"“{space[0]}” in inline PTX: parameters and constant memory are read by the kernel's own text alone."
    if sign := re.search(r"[#\"'`\\?]", ptx):
        yield f"“{sign[0]}” is not allowed in inline PTX."


def _quoted(strings: list[str]) -> str:
    return "".join(_STRING.fullmatch(text)[1] for text in strings)


def _ptx(strings: list[str]) -> str:
    """The PTX of an asm statement whose text consists of these plain string literals."""
    return without_comments(_quoted(strings).replace("\\n", "\n").replace("\\t", "\t"))


def _operands(code: list[Token], start: int) -> list[tuple[str, str]]:
    """(name or "", constraint) of each operand from `start` up to the statement's closing parenthesis."""
    found, name, depth, parts = [], "", 0, 0
    for number, token in enumerate(code[start:], start):
        depth += (token.mark in ("(", "[")) - (token.mark in (")", "]"))
        if depth < 0:
            break
        parts += depth == 0 and token.mark == ":"
        if depth == 1 and token.kind == "word" and code[number - 1].mark == "[":
            name = token.text
        if depth == 0 and token.kind == "string" and parts < 3:
            found.append((name, token.text[token.text.index('"') + 1 : -1]))
            name = ""
    return found


def _written_inputs(ptx: str, operands: list[tuple[str, str]]) -> Iterator[str]:
    """Yields a reason if an instruction of `_WRITES` writes an operand that the statement lists as an input alone."""
    for statement in ptx.split(";"):
        statement = statement[_BEFORE.match(statement).end() :]
        if not (opcode := _WRITES.match(statement)):
            continue
        rest = re.sub(r"^\S*", "", statement[opcode.end() :])  # what follows the modifiers
        written = re.match(r"\s*(\{[^}]*\}|[^,\s\[]*(?:\[\w+\])?)", rest)[1]
        for number, name in _OPERAND.findall(written):
            place = int(number) if number else next((n for n, (known, _) in enumerate(operands) if known == name), -1)
            if 0 <= place < len(operands) and not operands[place][1].startswith(("=", "+")):
                yield (
                    f"this {opcode[0]} writes %{number or name}, which is listed only among the inputs of the asm: the "
                    "compiler takes it for unchanged. List it as an output, with “=” or “+”."
                )
                return
