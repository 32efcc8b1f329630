"""Checks generated Python token by token before it is executed: every token has to be on a list.

The simulator generates Python from PTX, and the PTX may have been written to make that Python do something else. The
emitters copy nothing from the PTX but numbers and words of their own tables. If one of them ever copied another word,
this check would reject it: a name has to be a register, a temporary, a constant or a function of the simulator, an
attribute has to be on the list, and only names and items of R are assigned to. So code that passes can only compute.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpu_simulator.faults import MalformedPtx
from gpu_simulator.machine.special_registers import NAMES

_TOKEN = re.compile(r"\.?[A-Za-z_]\w*|\d\w*|'[^'\n]*'|[=!<>]=|<<|>>|//|\.\.\.|[ \n]+|.", re.ASCII | re.DOTALL)
# Local names of a block, numbers, words of the simulator's tables, indentation.
_OWN = re.compile(r"r\d{1,7}|t\d{1,7}b?|acc\d{1,7}|\d{1,20}|'[A-Za-z0-9_ ]{0,32}'| |\n(?: {4}){0,2}", re.ASCII)
_ASSIGNMENT = re.compile(r"^ {4,8}(?:R\[\d+\]|\(?[A-Za-z]\w*(?:, [A-Za-z]\w*)*(?:,\))?) = ", re.ASCII | re.MULTILINE)

_SYMBOLS = "+ - * / // % & | ^ ~ << >> < > <= >= == != ( ) [ ] , : = ..."
_WORDS = "return if pass None True False resident lanes R m get put one x"
# Attributes of resident blocks and their parts, of lanes, of arrays, and of NumPy.
_ATTRIBUTES = """
R mask get put_masked branch switch exit trap probe calls enter leave barriers sync arrive reduce cluster_barrier wait
groups commit transfers mbarriers tensor_memory dealloc dealloc_in_pair relinquish relinquish_in_pair warpgroups fence
take landed flights moved window4 window8 sum_rule
view astype dtype tiny
abs clip maximum minimum copysign sqrt sin cos log2 exp2 tanh rint trunc floor ceil finfo isfinite isinf isnan where
"""
SYMBOLS, WORDS, ATTRIBUTES = (frozenset(text.split()) for text in (_SYMBOLS, _WORDS, _ATTRIBUTES))
# Special registers: attributes of lanes, and clocks of resident blocks.
REGISTERS = frozenset(name.replace(".", "_") for name in NAMES)
KNOWN = SYMBOLS | WORDS | frozenset({f".{name}" for name in ATTRIBUTES | REGISTERS})


@dataclass(frozen=True)
class Language:
    """Which generated text passes. head: its first line.   known: tokens, beside names of the namespace and numbers."""

    head: str
    known: frozenset[str]

    def has(self, token: str, namespace: dict) -> bool:
        """Whether a token is on the list, a number, a local name, or a name of the namespace."""
        return token in SYMBOLS or token in self.known or bool(_OWN.fullmatch(token)) or _named(token, namespace)


BLOCKS = Language("def block(resident, lanes):\n", KNOWN)  # basic blocks of PTX


class Refused(MalformedPtx):
    """Generated text has a token that is on no list. line: of the text, from 0."""

    def __init__(self, token: str, line: int):
        super().__init__(
            f"The code for this PTX would contain {token[:40]!r}, which is not on the list of allowed words."
        )
        self.line = line


def check(source: str, namespace: dict, language: Language = BLOCKS) -> None:
    """Raise `Refused` unless every token of `source` is known. namespace: what it can use besides its own names."""
    if not source.startswith(language.head) or "'''" in source:
        raise Refused(source, 0)
    tokens = _TOKEN.findall(source, len(language.head) - 1)
    for token in set(tokens):
        if not language.has(token, namespace):
            raise Refused(token, source[: source.find(token, len(language.head))].count("\n"))
    if tokens.count("=") != len(_ASSIGNMENT.findall(source)):  # an assignment to an attribute, or inside an expression
        for number, line in enumerate(source.split("\n")):
            if _TOKEN.findall(line).count("=") != len(_ASSIGNMENT.findall(line)):
                raise Refused(line.strip(), number)


def _named(token: str, namespace: dict) -> bool:
    """Whether a token is the name of a function or of a constant in the program's namespace."""
    return token in namespace and token.isidentifier() and not token.startswith("_")


def function_of(source: str, name: str, namespace: dict, language: Language = BLOCKS) -> Callable[..., Any]:
    """The function `block` that `source` defines. name: of the text, for tracebacks. Raises `Refused`."""
    check(source, namespace, language)
    try:
        code = compile(source, name, "exec")
    except SyntaxError as error:
        raise Refused(error.msg, (error.lineno or 1) - 1) from error
    exec(code, namespace)  # noqa: S102
    return namespace.pop("block")
