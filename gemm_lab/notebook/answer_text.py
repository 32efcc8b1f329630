"""What the text of an answer may not do: leave its region, or change how it is compiled and counted.

An answer is CUDA that stands in one region of a kernel. Everything in it is compiled and run on the emulator, so it
cannot reach the checker; what it could do is alter the rest of the kernel's file. These rules are about the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A name or number (1'000 is one), a string, a character, a comment, or what begins one of these and does not end.
_TOKEN = re.compile(
    r"(?P<word>[A-Za-z_]\w*|\.?[0-9](?:'\w|[eEpP][+-]|[\w.])*)"
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/|(?P<open>/\*|"|\')', re.S)
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(?P<words>[^\n]*)", re.M)
_MARKER = re.compile(r"^[ \t]*(//[ \t]*(?:region:|end region))", re.M)
_RAW = re.compile(r'(?<!\w)(?:u8|u|U|L)?R"')
_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")
# In PTX a statement that begins with a dot is a directive (PTX ISA, "Directives"); `.reg` only names registers.
_PTX_DIRECTIVE = re.compile(r"(?:^|[;{}:])\s*(\.(?!reg\b)\w+)")


def refusals(text: str, first_line: int = 1) -> list[str]:
    """Why a text cannot be an answer, one sentence a reason with its line; none if it may be tried."""
    return [f"Line {line}: {says}" for line, says in _found(text, first_line)][:3]


def _found(text: str, first_line: int) -> Iterator[tuple[int, str]]:
    def at(source: str, offset: int) -> int:
        return first_line + source.count("\n", 0, offset)

    if raw := _RAW.search(text):
        yield at(text, raw.start()), "a raw string has no place in a kernel; leave it out."
        return
    if splice := re.search(r"\\[ \t]*\n", text):
        yield at(text, splice.start()), "a backslash joins this line to the next; write it as one line."
        return
    if marker := _MARKER.search(text):
        yield at(text, marker.start(1)), (f"“{marker[1]}” marks the regions of the kernel's file; an answer stays "
                                          "inside its own. Leave the comment out.")
    code, opened = without_comments(text)
    if opened is not None:
        yield at(text, opened), "a comment or a string begins here and does not end."
        return
    for found in _DIRECTIVE.finditer(code):
        if not re.match(r"pragma[ \t]+unroll\b", found["words"]):
            words = found["words"].strip().split(" ")
            yield at(code, found.start()), (f"“#{words[0]}” is refused: it could change the rest of the kernel's file. "
                                            "Of the directives only #pragma unroll may stand in an answer.")
    if pragma := re.search(r"\b_Pragma\b|\b__pragma\b", code):
        yield at(code, pragma.start()), "“_Pragma” is refused; #pragma unroll may stand in an answer."
    yield from ((at(code, offset), says) for offset, says in _braces(code))
    for name in re.finditer(r'\bextern\s*"', text):
        yield at(text, name.start()), "a kernel of your own is never launched; the one around your region is."
    if re.search(r"\b__global__\b", code):
        yield at(code, code.index("__global__")), "a second __global__ function is never launched; leave it out."
    if _ASM.search(code):
        yield from ((at(text, offset), says) for offset, says in _strings_of_asm(text))


def without_comments(text: str, strings: bool = False) -> tuple[str, int | None]:
    """The text with comments and (unless `strings`) the insides of strings blanked; where one stays open, or None.

    It keeps its length and its lines.
    """
    opened = None

    def blank(match: re.Match) -> str:
        nonlocal opened
        if match["word"] or (strings and match[0][0] in "\"'"):
            return match[0]
        if match["open"] and opened is None:
            opened = match.start()
        kept = match[0][0] if match[0][0] in "\"'" else " "
        return kept + re.sub(r"[^\n]", " ", match[0][1:-1]) + (kept if len(match[0]) > 1 else "")

    return _TOKEN.sub(blank, text), opened


def unmatched_brace(code: str) -> tuple[int, int] | None:
    """Where a text without comments has a } too many, and 0; or its last open {, and how many stay open."""
    opened = []
    for found in re.finditer(r"[{}]|<%|%>", code):
        if found[0] in ("{", "<%"):
            opened.append(found.start())
        elif opened:
            opened.pop()
        else:
            return found.start(), 0
    return (opened[-1], len(opened)) if opened else None


def _braces(code: str) -> Iterator[tuple[int, str]]:
    if found := unmatched_brace(code):
        offset, count = found
        yield offset, (f"{count} {{ stay open at the end of the answer." if count else
                       "this } closes a block that the answer did not open, and so leaves the region.")


def _strings_of_asm(text: str) -> Iterator[tuple[int, str]]:
    """Inline PTX that closes the function around it, or speaks of files, functions and variables."""
    code, told = without_comments(text)[0], without_comments(text, strings=True)[0]
    for statement in _ASM.finditer(code):
        whole = told[statement.end():_end_of_statement(code, statement.end())]
        ptx, depth = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', whole)), 0
        if escape := re.search(r"\\[^nt\"\\]", ptx):
            yield statement.start(), f"“{escape[0]}” in inline PTX: only \\n and \\t may stand for other characters."
        for brace in re.findall(r"[{}]", ptx):
            depth += 1 if brace == "{" else -1
            if depth < 0:
                break
        if depth:
            yield statement.start(), "the braces of this inline PTX do not match: it would leave its function."
        if directive := _PTX_DIRECTIVE.search(re.sub(r"\\[nt]|/\*.*?\*/|//.*", " ", ptx)):
            yield statement.start(), f"inline PTX may hold instructions and registers, but no “{directive[1]}”."


def _end_of_statement(code: str, start: int) -> int:
    """Where the parentheses that follow `start` close, in a text without comments and strings."""
    depth = 0
    for position in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[position], 0)
        if depth == 0 and code[position] == ")":
            return position
    return len(code)
