"""The names that a cell of a notebook takes from the cells before it, and those to which it gives a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    *COMPREHENSIONS,
)  # they have names of their own
_EARLY = ("decorator_list", "defaults", "kw_defaults", "iter", "value")  # run before what stands to the left of them
_INSIDE = ("body", "elt", "key", "value")  # the parts of a scope that see its names


def uses(source: str) -> list[tuple[str, bool]]:
    """(name, whether it gets a value) for each use of a global name in a cell; a `%%kernel` cell has that after --as."""
    first, _, _ = source.partition("\n")
    if first.startswith("%%"):
        return [(name, True) for name in re.findall(r"--as (\w+)", first)]
    text = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n"))
    try:
        return list(_names(ast.parse(text)))
    except SyntaxError:
        return []


def needs(source: str) -> set[str]:
    """The names that a cell takes from the cells before it, or from Python."""
    found, bound = set[str](), set[str]()
    for name, stored in uses(source):
        if stored:
            bound.add(name)
        elif name not in bound:
            found.add(name)
    return found


def binds(source: str) -> set[str]:
    """The names to which a cell gives a value."""
    return {name for name, stored in uses(source) if stored}


def _names(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """(name, whether it gets a value) for each use of a global name in `node`, in the order in which it runs."""
    match node:
        case ast.Name(id=name, ctx=context):
            yield name, isinstance(context, ast.Store)
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name, False
        case ast.alias(name=name, asname=other):
            yield (other or name).split(".")[0], True
        case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
            yield name, True
    fields = sorted(ast.iter_fields(node), key=lambda field: field[0] not in _EARLY)
    if not isinstance(node, _SCOPES):
        yield from _names_of(value for _, value in fields)
        return
    outer = {name for one in ast.walk(node) if isinstance(one, ast.Global) for name in one.names}
    if isinstance(node, COMPREHENSIONS):
        outer = {one.target.id for one in ast.walk(node) if isinstance(one, ast.NamedExpr)}
    local = set[str]()  # first the parameters, or what a comprehension counts
    for name, stored in _names_of(value for field, value in fields if field not in _INSIDE):
        if stored and name not in outer:
            local.add(name)
        elif name not in local:
            yield name, stored
    if hasattr(node, "name"):
        yield node.name, True
    inside = list(_names_of(value for field, value in fields if field in _INSIDE))
    local |= {name for name, stored in inside if stored} - outer
    yield from (use for use in inside if use[0] not in local)


def _names_of(values: Iterable[object]) -> Iterator[tuple[str, bool]]:
    for value in values:
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield from _names(node)
