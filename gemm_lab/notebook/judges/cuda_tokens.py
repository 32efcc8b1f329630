"""Divides CUDA C++ text into tokens as a compiler does: translation phases 1 to 3 of C++17 ([lex.phases]).

A text is normalised (CR LF to LF), searched for spliced lines, and divided into tokens, which cover all of it. So white
space, comments and the insides of literals are recognised exactly as the compiler recognises them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A backslash at the end of a line joins it to the next one (phase 2); `??/` is the trigraph of the backslash. Compilers
# also accept blanks between the backslash and the end of the line. A backslash at the end of the text counts too,
# because it would join the text that follows.
SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\f\v]*(?:\r\n|\n|\r|\Z)")
TRIGRAPH = re.compile(r"\?\?[=/'()!<>-]")

_PREFIX = r"(?:u8|[uUL])"
_TOKEN = re.compile(
    rf"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<raw>{_PREFIX}?R")
    |(?P<string>{_PREFIX}?"(?:\\[^\n]|[^"\\\n])*")
    |(?P<char>{_PREFIX}?'(?:\\[^\n]|[^'\\\n])*')
    |(?P<open>/\*|{_PREFIX}?["'])
    |(?P<number>\.?[0-9](?:'[0-9A-Za-z_]|[eEpP][+-]|[0-9A-Za-z_.])*)
    |(?P<word>[A-Za-z_][A-Za-z_0-9]*)
    |(?P<newline>\n)
    |(?P<space>[ \t\f\v\r]+)
    |(?P<mark>%:%:|%:|<%|%>|<:(?!:(?![:>]))|:>|\#\#|\#|[{{}}\[\]()<>;:,.?~!+*/%^&|=-])
    |(?P<other>.)""",
    re.S | re.X,
)
# Alternative spellings of some marks ([lex.digraph]).
_DIGRAPHS = {"%:%:": "##", "%:": "#", "<%": "{", "%>": "}", "<:": "[", ":>": "]"}


@dataclass(frozen=True)
class Token:
    """One token. kind: comment, raw, string, char, open, number, word, newline, space, mark or other.

    text: its characters in the source, which begin at `offset`.   first: whether only white space and comments precede
    it on its logical line.   open: a comment or literal that does not end.   mark: an operator or a punctuator.
    """

    kind: str
    text: str
    offset: int
    first: bool

    @property
    def mark(self) -> str:
        """The mark with digraphs replaced, such as `#` for `%:` and `{` for `<%`; "" for another kind of token."""
        return _DIGRAPHS.get(self.text, self.text) if self.kind == "mark" else ""

    @property
    def blank(self) -> bool:
        """Whether the token is white space, the end of a line or a comment, which the compiler ignores."""
        return self.kind in ("comment", "newline", "space")


def normalised(text: str) -> str:
    """The text with CR LF replaced by LF, as it is compiled and as its lines are counted.

    A CR at the end is removed too, since it is part of a CR LF whose LF was cut off, and so is a byte order mark at the
    beginning, which some editors write.
    """
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\r")


def tokens(text: str) -> list[Token]:
    """The tokens of a normalised text without spliced lines; joined, they give the text again.

    A comment, string or character literal that does not end is a token of kind `open` up to the end of the text.
    """
    found, first, position = [], True, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        kind, words = match.lastgroup, match[0]
        if kind == "open":
            words = text[position:]
        found.append(Token(kind, words, position, first))
        # A comment over several lines counts as one blank ([lex.phases]), so no new logical line begins after it.
        first = kind == "newline" or (first and kind in ("comment", "space"))
        position += len(words)
    return found


def blanked(text: str) -> str:
    """The text with comments and the contents of literals replaced by blanks; its length and lines do not change."""
    parts = []
    for token in tokens(text):
        words = token.text
        if token.kind in ("comment", "open"):
            words = re.sub(r"[^\n]", " ", words)
        elif token.kind in ("string", "char"):
            begin = words.index(words[-1]) + 1
            words = words[:begin] + " " * (len(words) - begin - 1) + words[-1]
        parts.append(words)
    return "".join(parts)


def unmatched_brace(found: list[Token]) -> tuple[int, int] | None:
    """The first unmatched brace; None if all match.

    For a } without a { this is (offset, 0). If some { are not closed, it is (offset of the last of them, their number).
    """
    opened = []
    for token in found:
        if token.mark == "{":
            opened.append(token.offset)
        elif token.mark == "}":
            if not opened:
                return token.offset, 0
            opened.pop()
    return (opened[-1], len(opened)) if opened else None
