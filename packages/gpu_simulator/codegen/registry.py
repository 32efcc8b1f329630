"""The table of opcodes: each module in `ops` registers the functions that generate code for its instructions."""

from __future__ import annotations

from gpu_simulator.ptx.types import CODES

EMITTERS: dict = {}
FORMS: dict[str, str] = {}


def op(*families: str, forms: str | dict[str, str] = ""):
    """Decorator that registers a code generator for opcodes whose first part is one of `families`.

    forms: describes the supported variants for `supported`, by default by the first line of the docstring; or
    {family: description}, which then names the families.
    """

    def register(function):
        for family in forms if isinstance(forms, dict) else families:
            EMITTERS[family] = function
            own = forms[family] if isinstance(forms, dict) else forms
            FORMS[family] = own or (function.__doc__ or "").strip().splitlines()[0]
        return function

    return register


def types_of(parts: tuple) -> list[str]:
    """The PTX types among the parts of an opcode, in order."""
    return [part for part in parts if part in CODES]
