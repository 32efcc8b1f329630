"""Refuses answers whose text would leave its region, or would change how the kernel is compiled and counted.

An answer is CUDA code for one region of a kernel. It is compiled and runs on the simulator, so it cannot reach the
checker. But it could include other files, change the rest of the kernel's file, or be different kernels for different
architectures. The rules here prevent that. They read the text as a compiler does, see `cuda_tokens`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from gemm_lab.notebook.judges.cuda_tokens import SPLICE, TRIGRAPH, Token, normalised, tokens, unmatched_brace
from gemm_lab_classroom.judge.inline_ptx import asm_refusals

_MARKER = re.compile(r"//[ \t]*(?:region:|end region)")
# Format characters that join letters in some scripts and in emoji; they are allowed in comments and literals.
_JOINERS = "\u200c\u200d"
_UNROLL = re.compile(r"[\w \t+*/%()<>=!&|-]*")
# Macros that depend on the compiler, on the architecture, on files or on places in them.
_ARCHITECTURE = re.compile(
    r"__CUDA_ARCH\w*|__CUDA_\w*ARCH\w*|_*NV_\w+|__nv_target\w*|__CUDACC\w*|__NVCC\w*|"
    r"__nv(?!_bfloat|_fp\d)\w*|CUDA_VERSION|CUDART_VERSION|_*CCCL_\w*|_LIBCUDACXX\w*|__CUDA\w*__"
)
_OF_FILES = re.compile(
    r"__has_\w+|__include\w*|__embed\w*|__FILE\w*|__BASE_FILE__|__LINE__|__COUNTER__|__DATE__|"
    r"__TIME\w*|__builtin_(?:FILE|LINE|COLUMN|FUNCTION|source_location)|__INCLUDE_LEVEL__"
)
# Names that begin like this are reserved for the compiler ([lex.name]), whose headers define such macros. Kernels need
# only those for the FP8 and FP4 formats.
_RESERVED = re.compile(r"__?[A-Z]\w*")
_FORMATS = re.compile(r"__NV_(?:E\dM\d|SATFINITE|NOSAT)")
_COMPILER_WORDS = {
    "__location__",
    "__annotate__",
    "__declspec",
    "__device_builtin__",
    "__cudart_builtin__",
    "__managed__",
    "__device_builtin_texture_type__",
    "__builtin_constant_p",
    "__extension__",
    "__label__",
}
# Words by which a program asks the compiler what it declares: CUDA's headers declare more for newer architectures.
_QUESTIONS = re.compile(r"requires|concept|typeid|__(?:is|has|underlying|reference)_\w+|__typeof\w*|typeof")
# What `sizeof`, `alignof` and `decltype` may have inside beside names and numbers: nothing that calls a function.
_OF_A_VALUE = {*"*&[].:+->/%"}
_ATTRIBUTES = {"noinline", "always_inline", "aligned", "unused"}
_BRACKETED = {"maybe_unused", "likely", "unlikely", "fallthrough", "nodiscard"}

DIRECTIVES = "The only directives that an answer may have are #pragma unroll and #pragma nounroll."


def refusals(text: str, first_line: int = 1) -> list[str]:
    """The reasons why a text is refused as an answer, at most three sentences that name the line; [] if it is allowed.

    first_line: the number of the text's first line in its cell.
    """
    text = normalised(text)
    found = sorted(_found(text), key=lambda item: item[0])
    return [f"Line {first_line + text.count(chr(10), 0, offset)}: {says}" for offset, says in found][:3]


def _found(text: str) -> Iterator[tuple[int, str]]:
    """Yields (offset, reason) of everything in the text that is refused."""
    if splice := SPLICE.search(text):  # the tokens are found line by line, which a spliced line makes impossible
        yield splice.start(), "a backslash joins this line to the next; write it as one line."
        return
    cut = tokens(text)
    if raw := next(
        (token for token in cut if token.kind == "raw"), None
    ):  # the tokens behind it are not the compiler's
        yield raw.offset, "a raw string has no place in a kernel; write plain strings, also for the text of asm."
        return
    rules = (_characters, _literals, _directives, _names, _questions, _attributes, _linkage, asm_refusals)
    for rule in rules:
        yield from rule(cut)
    if found := unmatched_brace(cut):
        offset, count = found
        yield (
            offset,
            (
                f"{count} {{ stay open at the end of the answer."
                if count
                else "this } closes a block that the answer did not open, and so leaves the region."
            ),
        )


def _characters(cut: list[Token]) -> Iterator[tuple[int, str]]:
    """Refuse the first character that is not allowed where it is.

    Control characters are allowed nowhere, and characters that C++ does not use only in comments and literals.
    """
    for token in cut:
        quoted = token.kind in ("comment", "string", "char", "open")
        for place, character in enumerate(token.text):
            if not _may_stand(character, quoted, token.kind):
                yield token.offset + place, f"{_named(character)} stands here; {_instead(character)}"
                return
    quoted = ("comment", "string", "char")
    plain = "".join(" " * len(token.text) if token.kind in quoted else token.text for token in cut)
    if found := TRIGRAPH.search(plain):
        yield found.start(), f"“{found[0]}” is a trigraph; write the character that it stands for."


def _may_stand(character: str, quoted: bool, kind: str) -> bool:
    """Whether a character is allowed in a token of this kind. quoted: the token is a comment or a literal."""
    if character.isascii():
        return character in "\n\t" or (character.isprintable() and kind != "other")
    category = unicodedata.category(character)  # C…: control, format, private use; Z…: separators, of which Zs spaces
    return quoted and (category[0] not in "CZ" or category == "Zs" or character in _JOINERS)


def _named(character: str) -> str:
    sign = f"“{character}” " if character.isprintable() and not character.isspace() else ""
    return f"the character {sign}U+{ord(character):04X} ({unicodedata.name(character, 'a control character')})"


def _instead(character: str) -> str:
    if character in "\\$@`":
        return "CUDA code needs none; leave it out."
    if character.isspace() or unicodedata.category(character) in ("Zs", "Cf"):
        return "use plain spaces, tabs and line ends."
    return "outside of comments and strings code is written with the characters of a US keyboard."


def _literals(cut: list[Token]) -> Iterator[tuple[int, str]]:
    for token in cut:
        if token.kind == "open":
            yield token.offset, "a comment or a string begins here and does not end."
        if token.kind == "comment" and (found := _MARKER.search(token.text)):
            yield (
                token.offset + found.start(),
                (
                    f"“{found[0]}” marks the regions of the kernel's file; an answer "
                    "stays inside its own. Leave the comment out."
                ),
            )


def _directives(cut: list[Token]) -> Iterator[tuple[int, str]]:
    for number, token in enumerate(cut):
        if token.mark not in ("#", "##"):
            continue
        rest = "".join(" " if other.blank else other.text for other in _line(cut, number + 1))
        words = rest.split()
        unrolls = words[:1] == ["pragma"] and words[1:2] in (["unroll"], ["nounroll"])
        if token.first and token.text == "#" and unrolls and _UNROLL.fullmatch(rest):
            continue
        yield (
            token.offset,
            (f"“#{words[0] if words else ''}” is refused: it could change the rest of the kernel's file. {DIRECTIVES}"),
        )


def _line(cut: list[Token], start: int) -> Iterator[Token]:
    """The tokens from `start` to the end of their logical line."""
    for token in cut[start:]:
        if token.kind == "newline":
            return
        yield token


def _names(cut: list[Token]) -> Iterator[tuple[int, str]]:
    for token in cut:
        if token.kind != "word":
            continue
        name = token.text
        if name in ("_Pragma", "__pragma"):
            yield token.offset, f"“{name}” is refused; an answer may have #pragma unroll."
        elif name in ("__global__", "__cluster_dims__", "__launch_bounds__", "__maxnreg__"):
            yield token.offset, "a second __global__ function is never launched; leave it out."
        elif _OF_FILES.fullmatch(name):
            yield token.offset, f"“{name}” asks about files or places in them, which an answer does not depend on."
        elif _ARCHITECTURE.fullmatch(name) and not _FORMATS.match(name):
            yield (
                token.offset,
                (f"“{name}” tells compilers and architectures apart; an answer is one kernel for all of them."),
            )
        elif name in _COMPILER_WORDS or _RESERVED.fullmatch(name) and not _FORMATS.match(name):
            yield token.offset, f"“{name}” is a name of the compiler's own headers; leave it out."


def _questions(cut: list[Token]) -> Iterator[tuple[int, str]]:
    """Refuse what asks the compiler whether an expression is valid, of which nothing is computed.

    Its answer depends on the architecture. `sizeof`, `alignof` and `decltype` may have a type, a name, an element or a
    sum of them, and `noexcept` may stand behind a function's parameters.
    """
    code = [token for token in cut if not token.blank]
    for number, token in enumerate(code):
        if token.kind != "word":
            continue
        asks, inside = bool(_QUESTIONS.fullmatch(token.text)), _inside(code, number + 1, "(", ")")
        if token.text == "noexcept":
            asks = bool(inside)
        if token.text in ("sizeof", "alignof", "__alignof__", "__alignof", "decltype"):
            asks = any(other.kind not in ("word", "number") and other.text not in _OF_A_VALUE for other in inside[1:])
        if asks:
            yield (
                token.offset,
                f"“{token.text}” asks the compiler what it declares, which differs between architectures; an answer is "
                "one kernel for all of them. Write the type itself.",
            )


def _attributes(cut: list[Token]) -> Iterator[tuple[int, str]]:
    """Refuse attributes, except the harmless ones in `_ATTRIBUTES` and `_BRACKETED`, such as those about inlining."""
    code = [token for token in cut if not token.blank]
    for number, token in enumerate(code):
        inside = []
        if token.text in ("__attribute__", "__attribute"):
            inside, known = _inside(code, number + 1, "(", ")"), _ATTRIBUTES
        elif token.mark == "[" and code[number + 1 : number + 2] and code[number + 1].mark == "[":
            inside, known = _inside(code, number, "[", "]"), _BRACKETED
        for other in inside:
            if other.kind == "word" and other.text.strip("_") not in known:
                yield (
                    other.offset,
                    (f"the attribute “{other.text}” is refused; an answer may use {', '.join(sorted(known))}."),
                )
                break


def _inside(code: list[Token], start: int, opening: str, closing: str) -> list[Token]:
    """The tokens from the opening bracket at `start` up to its closing bracket, which is not included."""
    depth = 0
    for number in range(start, len(code)):
        depth += (code[number].mark == opening) - (code[number].mark == closing)
        if depth == 0:
            return code[start:number]
    return code[start:]


def _linkage(cut: list[Token]) -> Iterator[tuple[int, str]]:
    code = [token for token in cut if not token.blank]
    for token, behind in zip(code, code[1:], strict=False):
        if token.text == "extern" and behind.kind in ("string", "open"):
            yield token.offset, "extern with a language is refused: an answer needs no function from outside of it."
