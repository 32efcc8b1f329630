"""Refuses an XOR whose operands hold a sum without brackets, because C++ computes + and - before ^.

`row * 8 + chunk ^ row % 8` looks like a place in a row, `row * 8 + (chunk ^ row % 8)`, and is another layout. It may be
free of bank conflicts by luck, so the counts of an exercise do not find it. C++ compilers warn of the same expressions
(GCC: -Wparentheses).
"""

from __future__ import annotations

from collections.abc import Sequence

from gemm_lab.notebook.judges.cuda_tokens import Token, normalised, tokens

_OPEN, _CLOSE = ("(", "[", "{"), (")", "]", "}")
_WEAKER = (";", ",", "?", ":", "=", "<", ">", "|", "!")  # marks that end the operand of a ^
_PREFIXED = (*_OPEN, *_WEAKER, "+", "-", "*", "/", "%", "&", "^", "~")  # behind these + or - is the sign of one number


def sums_beside_xor(text: str, first_line: int = 1) -> list[str]:
    """A sentence for each XOR in the text of an answer that has a bare sum as an operand; [] if there is none.

    first_line: the number of the text's first line in its cell.
    """
    text = normalised(text)
    code = [token for token in tokens(text) if not token.blank]
    found, behind = [], 0
    for place, token in enumerate(code):
        if place < behind or not _is_xor(code, place):
            continue
        begin, behind = _reach(code, place, -1) + 1, _reach(code, place, 1)
        parts = _operands(code, begin, behind)
        if not any(map(_is_sum, parts)):
            continue
        said = [" ".join(_source(text, part).split()) for part in parts]
        meant = " ^ ".join(f"({words})" if _is_sum(part) else words for words, part in zip(said, parts, strict=True))
        line = first_line + text.count("\n", 0, token.offset)
        found.append(
            f"Line {line}: C++ computes + and - before ^, so “{' ^ '.join(said)}” means {meant}. Put brackets "
            "around what belongs together."
        )
    return found


def _is_xor(code: Sequence[Token], place: int) -> bool:
    """Whether the token is the operator ^, also spelled xor, and not the beginning of ^=."""
    if code[place].kind == "word":
        return code[place].text == "xor"
    return code[place].mark == "^" and not (place + 1 < len(code) and code[place + 1].mark == "=")


def _reach(code: Sequence[Token], place: int, step: int) -> int:
    """The place of the token that ends the expression around `place`, to the left (step -1) or the right (step 1)."""
    opening, closing = (_OPEN, _CLOSE) if step > 0 else (_CLOSE, _OPEN)
    depth = 0
    while 0 <= (place := place + step) < len(code):
        mark = code[place].mark
        if mark in opening:
            depth += 1
        elif depth and mark in closing:
            depth -= 1
        elif not depth and (mark in closing or _ends_an_operand(code, place)):
            return place
    return place


def _ends_an_operand(code: Sequence[Token], place: int) -> bool:
    """Whether the token is an operator that comes after ^, or no part of an expression. << and >> come before ^."""
    if code[place].mark in ("<", ">", "&"):
        return _is_doubled(code, place) == (code[place].mark == "&")
    return code[place].mark in _WEAKER or code[place].text in ("return", "and", "or")


def _is_doubled(code: Sequence[Token], place: int) -> bool:
    """Whether the token is one half of an operator such as << or ++."""
    near = [code[other] for other in (place - 1, place + 1) if 0 <= other < len(code)]
    return any(token.mark == code[place].mark and abs(token.offset - code[place].offset) == 1 for token in near)


def _operands(code: Sequence[Token], begin: int, end: int) -> list[list[Token]]:
    """The tokens between `begin` and `end`, divided at each XOR outside of brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for place in range(begin, end):
        depth += (code[place].mark in _OPEN) - (code[place].mark in _CLOSE)
        if not depth and _is_xor(code, place):
            parts.append([])
        else:
            parts[-1].append(code[place])
    return parts


def _is_sum(part: Sequence[Token]) -> bool:
    """Whether an operand has a + or - between two others, outside of brackets."""
    depth = 0
    for place, (before, token) in enumerate(zip(part, part[1:], strict=False), 1):
        depth += (before.mark in _OPEN) - (before.mark in _CLOSE)
        if not depth and token.mark in ("+", "-") and before.mark not in _PREFIXED and not _is_doubled(part, place):
            return True
    return False


def _source(text: str, part: Sequence[Token]) -> str:
    return text[part[0].offset : part[-1].offset + len(part[-1].text)] if part else ""
