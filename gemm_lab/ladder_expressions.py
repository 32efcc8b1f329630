"""Evaluates the integer expressions of ladder.toml, such as "cdiv(N, BLOCK_N)"."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping

from gpu_simulator.errors import ConfigError

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
}
_FUNCTIONS = {"min": min, "max": max, "cdiv": lambda a, b: -(-a // b)}


def evaluate(expression: str | int, names: Mapping[str, int]) -> int:
    """The value of an expression such as `"cdiv(N, BLOCK_N)"` with these values of its names.

    An expression consists of integers, names, + - * // %, min, max and cdiv (division rounded up). Raises `ConfigError`
    for anything else, an unknown name or a division by 0.
    """

    def value(node: ast.AST) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and node.id in names:
            return int(names[node.id])
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.operand))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*[value(argument) for argument in node.args])
        raise ConfigError(
            f"“{expression}” uses {ast.unparse(node)!r}; known names are {', '.join(sorted(names))}, "
            f"known functions {', '.join(_FUNCTIONS)}."
        )

    if isinstance(expression, int):
        return expression
    try:
        return value(ast.parse(expression, mode="eval").body)
    except ZeroDivisionError:
        raise ConfigError(f"“{expression}” divides by a setting that is 0; tiles have to be at least 1.") from None
    except SyntaxError as error:
        raise ConfigError(f"“{expression}” is not an expression over tile sizes: {error}.") from None
