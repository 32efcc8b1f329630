"""What a C++ file declares, told from its brackets: where a declaration begins and ends, its head, its names.

The text is one in which comments, strings and directives are blanks (`masked`), and of a conditional that cuts a
declaration in two only one branch is left (`one_branch`). Every character keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<end>[^()\\\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*\#(?:\\\r?\n|/\*.*?\*/|[^\n])*",
    re.S | re.M,
)
_CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b")
_NEVER = re.compile(r"\s*#\s*if\s+0\s*(?:/[/*]|\Z)")
_ALIGNED = re.compile(r"\b(?:__align__|alignas|__attribute__|__declspec)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_KIND = re.compile(r"^(?:template\s*<[^{;]*>\s*)?(?:typedef\s+|static\s+|const\s+)*(?:struct|class|union|enum)\b")
# A macro between the key and the name, or in place of the name; a function that returns a struct has two words there.
_ATTRIBUTED = re.compile(r"\b(?:struct|class|union)\s+\w+\s*\([^()]*\)$")
_POINTER = re.compile(r"\(\s*(?:\w+\s*::\s*)?[*&]+\s*(?:const\s+)?(\w+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_KEYWORDS = {"struct", "class", "union", "enum", "typedef", "const", "static", "extern", "typename", "volatile"}
_KEYWORDS |= {"final", "requires", "decltype", "constexpr", "inline"}
_ENDS = re.compile(r"(?:\A|[;{}):])\s*\Z")
_LINE = re.compile(r"^#line .*$", re.M)


class Conditional(NamedTuple):
    """An #if, its branches and its #endif. lines: (begin, end) of each directive.   never: its condition is 0."""

    lines: Sequence[tuple[int, int]]
    never: bool


class Item(NamedTuple):
    """A declaration. keep: it is no host code.   root: it is device code, which stays whoever uses it.

    names: what it declares, or more.   special: it specialises a template, perhaps of a library.
    """

    begin: int
    end: int
    keep: bool
    root: bool
    head: str = ""
    kind: bool = False
    names: frozenset[str] = frozenset()
    special: bool = False


def masked(text: str) -> str:
    """A source with blanks in place of comments, strings and directives; every character keeps its place."""
    return _NOT_CODE.sub(lambda found: blank(found[0]), text)


def blank(text: str) -> str:
    """Blanks in place of a text; its lines stay."""
    return re.sub(r"[^\n]", " ", text)


def conditionals(text: str) -> list[Conditional]:
    """The conditionals of a source, an inner one before the outer one. One without an #endif is left out."""
    found: list[Conditional] = []
    open_: list[Conditional] = []
    for part in _NOT_CODE.finditer(text):
        directive = _CONDITION.match(part[0])
        if directive is None:
            continue
        if directive[1].startswith("if"):
            open_.append(Conditional([], bool(_NEVER.match(part[0]))))
        if open_:
            open_[-1].lines.append(part.span())  # type: ignore[attr-defined]
            if directive[1] == "endif":
                found.append(open_.pop())
    return found


def one_branch(code: str, groups: Sequence[Conditional]) -> str:
    """The code, with blanks in place of what is never compiled, and of all branches but one where they cut brackets.

    A brace that is opened in both branches of an #if is closed once. groups: the `conditionals` of the source.
    The branch that is left is the first if the brackets then match, or else the last, where an #if without #else that
    cuts brackets is left out or not.
    """
    ways = (_branches(code, groups, last, alone) for last in (False, True) for alone in (True, False))
    first = next(ways)
    return first if _depth(first) == 0 else next((way for way in ways if _depth(way) == 0), first)


def _branches(code: str, groups: Sequence[Conditional], last: bool, alone: bool) -> str:
    left = list(code)
    for lines, never in groups:
        if len(lines) == 2 and not never and alone:
            continue
        branches = [(end, begin) for (_, end), (begin, _) in zip(lines, lines[1:], strict=False)]
        whole = _ENDS.search("".join(left[max(0, lines[0][0] - 400) : lines[0][0]])) and all(
            _is_whole("".join(left[begin:end])) for begin, end in branches
        )
        stays = (len(lines) - 2 if last else int(never)) if len(lines) > 2 else 1
        for number, (begin, end) in enumerate(branches):
            if (never and number == 0) or (not whole and number != stays):
                left[begin:end] = blank("".join(left[begin:end]))
    return "".join(left)


def _is_whole(code: str) -> bool:
    """Whether a branch holds whole statements or declarations."""
    return _depth(code) == 0 and bool(_ENDS.search(code))


def _depth(code: str) -> int:
    """How many brackets are left open; -1 if one is closed that was never opened."""
    depth = 0
    for sign in re.findall(r"[][(){}]", code):
        depth += 1 if sign in "({[" else -1
        if depth < 0:
            break
    return depth


def emptied(text: str, begin: int, end: int, groups: Sequence[Conditional]) -> str:
    """What stays of a part of a source that is left out: its lines, each #line, and directives of a cut conditional."""
    kept = [found.span() for found in _LINE.finditer(text, begin, end)]
    for lines, _ in groups:
        if not begin <= lines[0][0] < lines[-1][1] <= end:
            kept += [line for line in lines if begin <= line[0] and line[1] <= end]
    parts, at = [], begin
    for first, last in sorted(kept):
        parts += ["\n" * text.count("\n", at, first), text[first:last]]
        at = last
    return "".join([*parts, "\n" * text.count("\n", at, end)])


def is_kind(head: str) -> bool:
    """Whether the head is that of a class or an enumeration, and not of a function that returns one."""
    head = _ALIGNED.sub("", head).strip()
    return bool(_KIND.match(head)) and (not head.endswith(")") or bool(_ATTRIBUTED.search(head)))


def names_of(head: str, item: str, kind: bool, function: bool) -> tuple[frozenset[str], bool]:
    """(names that a declaration declares, or more than these; whether it specialises a template of classes).

    There are none if it declares nothing, as static_assert, or if its name is not a word, as that of an operator.
    """
    item, head = (plain(_ALIGNED.sub("", text).strip()) for text in (item, head))
    if kind:
        named, _, body = item.partition("{")
        named = re.sub(r"(?<!:):(?!:).*", "", named, flags=re.S)
        behind = body if re.search(r"\benum\b", named) else body.rpartition("}")[2]
        return frozenset({*_WORD.findall(named + behind)} - _KEYWORDS), bool(
            re.match(r"(?:struct|class)\b[\w\s:]*<", named)
        )
    if function:
        named = head.partition("(")[0] if "operator" not in head else ""
        return frozenset({*_WORD.findall(named)} - _KEYWORDS if "<" in named else _WORD.findall(named)[-1:]), False
    if re.match(r"(?:namespace|using|concept)\s+\w+\s*=", head):
        return frozenset(_WORD.findall(head)[1:2]), False
    if re.match(r"(?:using|static_assert|asm)\b", head):
        return frozenset(re.findall(r"^using\s+(?!namespace\b)[\w:\s]*?(\w+)$", head)), False
    text = outside_brackets(item.rstrip(";"))
    ends = r"[=,:<]" if "=" in text else r"(?:[,:<]|$)"
    return frozenset(_POINTER.findall(head) + re.findall(rf"([A-Za-z_]\w*)\s*{ends}", text)), False


def next_declaration(code: str, at: int) -> int:
    """Where the next declaration begins."""
    found = re.compile(r"[^\s;]").search(code, at)
    return found.start() if found else len(code)


def end_of_head(code: str, begin: int) -> re.Match | None:
    """The { of a body, or the semicolon; a { in parentheses is part of an expression such as decltype(T{})."""
    depth, first = 0, None
    for found in re.compile(r"[(){};]").finditer(code, begin):
        if found[0] in "()":
            depth += 1 if found[0] == "(" else -1
        elif found[0] in "{;":
            first = first or found
            if depth == 0:
                return found
            if found[0] == ";":
                break
    return first


def closing(code: str, brace: int) -> int | None:
    """The place behind the } that belongs to the { at `brace`."""
    depth = 0
    for found in re.compile(r"[{}]").finditer(code, brace):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.end()
    return None


def template_parameters(head: str) -> str:
    """The parameters of a template; "" of a specialisation, an instance, and of what is no template."""
    return " ".join(head[: len(head) - len(plain(head))].partition("<")[2][:-1].split())


def list_of_parameters(text: str) -> tuple[str, ...]:
    """The parameters of a function. text: what follows the parenthesis that opens their list."""
    found, depth = [""], 0
    for sign in text:
        depth += (sign in "(<[{") - (sign in ")>]}")
        if depth < 0:
            break
        if sign == "," and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return tuple(" ".join(part.split()) for part in found if part.strip())


def plain(head: str) -> str:
    """The head without its template's parameters, in which parentheses may stand."""
    if not re.match(r"template\s*<", head):
        return head
    depth = inside = 0
    for place, sign in enumerate(head):
        inside += (sign == "(") - (sign == ")")
        if not inside:
            depth += (sign == "<") - (sign == ">")
            if sign == ">" and depth == 0:
                return head[place + 1 :]
    return head


def outside_brackets(head: str) -> str:
    """The head without what stands in brackets: the = in it is of an initialiser, not of a default argument."""
    text, before = re.sub(r"operator\s*[^\w\s(]+|[=!<>]=", "", plain(head)), None
    while text != before:
        before, text = text, re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}", "", text)
    return text
