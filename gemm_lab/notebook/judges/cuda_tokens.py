"""CUDA C++ text as a compiler reads it: translation phases 1 to 3 of C++17 ([lex.phases]), down to tokens.

A text is normalised (CR LF to LF), searched for spliced lines, and cut into tokens that cover it without a gap. What
the compiler takes for white space, for a comment or for the inside of a literal is therefore known here too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A backslash before the end of a line joins it to the next (phase 2); `??/` is the backslash's trigraph. Compilers also
# accept blanks between the backslash and the end of the line. At the end of a text it would join what comes behind.
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
# The other spellings of some marks ([lex.digraph]).
_DIGRAPHS = {"%:%:": "##", "%:": "#", "<%": "{", "%>": "}", "<:": "[", ":>": "]"}


@dataclass(frozen=True)
class Token:
    """One token. kind: comment, raw, string, char, open, number, word, newline, space, mark or other.

    text: as it stands in the source, at `offset`.   first: whether only white space and comments stand before it on its
    logical line.
    """

    kind: str
    text: str
    offset: int
    first: bool

    @property
    def mark(self) -> str:
        """The mark that the compiler reads: `#` for `%:`, `{` for `<%`; "" for a token that is none."""
        return _DIGRAPHS.get(self.text, self.text) if self.kind == "mark" else ""

    @property
    def blank(self) -> bool:
        """Whether the compiler drops it: white space, the end of a line, a comment."""
        return self.kind in ("comment", "newline", "space")


def normalised(text: str) -> str:
    """The text with CR LF as LF, which is how it is compiled and how its lines are counted.

    A CR at its very end is what remains of a CR LF whose LF was cut off. A byte order mark, which some editors put in
    front of a text, is left out.
    """
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\r")


def tokens(text: str) -> list[Token]:
    """The tokens of a normalised text without splices; joined, they are the text.

    A comment, string or character that does not end is of kind `open` and takes the rest of the text with it.
    """
    found, first, position = [], True, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        kind, words = match.lastgroup, match[0]
        if kind == "open":
            words = text[position:]
        found.append(Token(kind, words, position, first))
        # A comment that reaches over several lines is one blank: what follows it still begins no new line.
        first = kind == "newline" or (first and kind in ("comment", "space"))
        position += len(words)
    return found


def blanked(text: str) -> str:
    """The text with comments and the insides of literals blanked. It keeps its length and its lines."""
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
    """Where the tokens have a } too many, and 0; or their last open {, and how many stay open."""
    opened = []
    for token in found:
        if token.mark == "{":
            opened.append(token.offset)
        elif token.mark == "}":
            if not opened:
                return token.offset, 0
            opened.pop()
    return (opened[-1], len(opened)) if opened else None
