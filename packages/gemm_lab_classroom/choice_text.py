"""Reads the numbers of a `choice = dict(name=number, …)` from a cell of Python, none of which is executed.

The assignments of the cell are followed from top to bottom: numbers and arithmetic, names, tuples and dicts. Whatever
else the cell holds, such as magics, comments and `print`, does not matter as long as it leaves the choice alone. If the
numbers come from anything else, such as a function, this module cannot tell them, so the answer is not judged.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from gemm_lab.compiling import NotJudged
from gemm_results.errors import LabError

LARGEST, MOST_BITS = 10**9, 64  # of a number; of an exponent and of a shift
_PLAIN = "Write the choice with plain numbers: choice = dict(name=number, …)."
_MAGIC = re.compile(r"^[ \t]*[%!].*$", re.M)
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_CALLS: dict[str, Callable[..., Any]] = {"int": int, "abs": abs, "min": min, "max": max}
_SHOWS = ("print", "display", "len")  # functions that change nothing


class Unreadable(NotJudged):
    """The choice may be right, but only a person can tell."""

    def __init__(self, node: ast.AST):
        super().__init__(
            f"Not judged: the choice depends on “{ast.unparse(node)[:60]}”, which is not computed here, because no "
            f"Python of an answer is executed. A person has to look at it. {_PLAIN}"
        )


def choice_of(text: str) -> dict[str, Any]:
    """The value of `choice` at the end of the cell; its numbers may be of any type, as they may be in a notebook.

    Raises `Unreadable` if it cannot be told, and `LabError` if there is no such dict, if a number is larger than
    `LARGEST`, or if the cell would raise an error itself.
    """
    known: dict[str, Any] = {}  # the values of names; of some the reason why their value cannot be told
    try:
        for statement in _parsed(text).body:
            _follow(statement, known)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise LabError(f"The cell does not run: {type(error).__name__}: {str(error)[:100]}. {_PLAIN}") from None
    except RecursionError:
        raise LabError("This is not Python: it is nested too deeply.") from None
    if "choice" not in known:
        raise LabError("The cell does not say choice = dict(…).")
    found = _read("choice", known)
    if type(found) is not dict or any(type(value) in (dict, tuple) for value in found.values()):
        raise LabError(_PLAIN)
    return found


def _parsed(text: str) -> ast.Module:
    """The cell as a tree. If it is no Python as it stands, lines that begin with % or ! are left to IPython."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's warnings about the text are irrelevant
        try:
            try:
                return ast.parse(text)
            except SyntaxError:
                return ast.parse(_MAGIC.sub("", text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            said = error.msg if isinstance(error, SyntaxError) else str(error) or "it is nested too deeply"
            where = f" in line {line}" if (line := getattr(error, "lineno", None)) else ""
            raise LabError(f"This is not Python{where}: {said.rstrip('.?')}.") from None


def _follow(statement: ast.stmt, known: dict[str, Any]) -> None:
    """Change `known` as the statement would change the names, or to `Unreadable` where that cannot be told."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    simple = isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
    if not isinstance(statement, ast.AnnAssign) or simple:  # an annotation alone gives no value
        for name in list(_changed(statement.value if simple else statement, known)):
            known[name] = Unreadable(statement)
    if not simple:
        return
    try:
        found = _value(statement.value, known)
    except Unreadable as unreadable:
        found = unreadable
    for target in targets:
        try:
            _bind(target, found, known)
        except Unreadable as unreadable:
            known.update((part.id, unreadable) for part in ast.walk(target) if isinstance(part, ast.Name))


def _bind(target: ast.expr, found: Any, known: dict[str, Any]) -> None:
    if isinstance(target, ast.Name):
        known[target.id] = found
    elif isinstance(target, (ast.Tuple, ast.List)) and type(found) is tuple and len(target.elts) == len(found):
        for part, one in zip(target.elts, found, strict=True):
            _bind(part, one, known)
    elif isinstance(target, ast.Subscript) and type(found) is not Unreadable and type(_holder(target, known)) is dict:
        _holder(target, known)[_key(target.slice, known)] = found
    else:
        raise found if type(found) is Unreadable else Unreadable(target)


def _changed(node: ast.AST, known: dict[str, Any]) -> Iterator[str]:
    """Yields the names that get another value in some code, and those of dicts that it may change."""
    for part in ast.walk(node):
        passed_on: list[Any] = []
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield part.name
        elif isinstance(part, ast.alias):
            yield (part.asname or part.name).partition(".")[0]
        elif isinstance(part, ast.Attribute) or isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
            passed_on = [part.value]
        elif isinstance(part, ast.Call) and not (isinstance(part.func, ast.Name) and part.func.id in (*_SHOWS, "dict")):
            passed_on = part.args
        names = (one.id for one in passed_on if isinstance(one, ast.Name))
        yield from (name for name in names if type(known.get(name)) is dict)


def _value(node: ast.expr, known: dict[str, Any]) -> Any:
    """The value of an expression. Raises `Unreadable` if it is more than numbers, names, tuples and dicts."""
    if isinstance(node, ast.Constant):
        return _limited(node.value)
    if isinstance(node, ast.Name) and node.id in known:
        return _read(node.id, known)
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_value(part, known) for part in node.elts)
    if isinstance(node, ast.Dict):
        found: dict[Any, Any] = {}
        for key, part in zip(node.keys, node.values, strict=True):
            found.update(_dict(part, known) if key is None else {_key(key, known): _value(part, known)})
        return found
    if isinstance(node, ast.Subscript) and type(held := _value(node.value, known)) in (dict, tuple):
        return held[_key(node.slice, known)]
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_number(node.operand, known))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        first, second = _number(node.left, known), _number(node.right, known)
        if isinstance(node.op, (ast.Pow, ast.LShift)) and second > MOST_BITS:
            raise ValueError("a number is too large")
        return _limited(_BINARY[type(node.op)](first, second))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in known:
        if node.func.id == "dict":
            return _call_of_dict(node, known)
        if node.func.id in _CALLS and not node.keywords:
            return _CALLS[node.func.id](*(_number(part, known) for part in node.args))
    raise Unreadable(node)


def _call_of_dict(node: ast.Call, known: dict[str, Any]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for word in node.keywords:
        more = {word.arg: _value(word.value, known)} if word.arg else _dict(word.value, known)
        if twice := found.keys() & more.keys():
            raise TypeError(f"dict() has the name {min(map(str, twice))} twice")
        found.update(more)
    return dict(*(_dict(part, known) for part in node.args), **found)


def _read(name: str, known: dict[str, Any]) -> Any:
    if isinstance(known[name], Unreadable):
        raise known[name]
    return known[name]


def _holder(node: ast.Subscript, known: dict[str, Any]) -> Any:
    return known.get(node.value.id) if isinstance(node.value, ast.Name) else None


def _dict(node: ast.expr, known: dict[str, Any]) -> dict[Any, Any]:
    if type(found := _value(node, known)) is dict:
        return found
    raise Unreadable(node)


def _key(node: ast.expr, known: dict[str, Any]) -> Any:
    if type(found := _value(node, known)) in (int, str):
        return found
    raise Unreadable(node)


def _number(node: ast.expr, known: dict[str, Any]) -> Any:
    if isinstance(found := _value(node, known), (int, float)):
        return found
    raise Unreadable(node)


def _limited(value: Any) -> Any:
    if isinstance(value, (int, float)) and not abs(value) <= LARGEST:
        raise ValueError("a number is too large")
    return value
