"""The numbers behind the names of a CUDA text: #define, constexpr, variables of main, functions of one line."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Mapping

from gpu_simulator.ptx.shared_declarations import TYPE_BYTES

DEEPEST = 16  # names that stand for names
LARGEST = 1 << 48
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([\w\s,]*)\))?[ \t]+((?:\\\r?\n|[^\n])+)$", re.M)
_FUNCTION = re.compile(r"\b(\w+)\s*\(([^(){};]*)\)\s*\{\s*return\b([^;{}]*);\s*\}")
_VARIABLE = re.compile(
    r"\b(?:(?:int|unsigned|long|short|size_t|auto|float|double|u?int\d+_t)\s+(?P<all>\w+\s*=[^;]*)"
    r"|dim3\s+(?P<extents>\w+\s*[=({][^;]*));"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_CAST = re.compile(r"\((?:const\s+)?(?:unsigned\s+|long\s+)*(?:int|long|float|double|size_t|unsigned|u?int\d+_t)\)")
_STATIC_CAST = re.compile(r"\bstatic_cast\s*<[^<>]*>")
_SIZE = re.compile(r"\bsizeof\s*\(\s*([\w\s:]+?)\s*\)")
_SUFFIX = re.compile(r"\b(0[xX][\da-fA-F]+|\d+)[uUlLzZ]+\b")
_FLOAT = re.compile(r"(?<![\w.])(\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)[fF]?")
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: math.fmod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_CALLS = {"min": min, "max": max, "ceil": math.ceil, "ceilf": math.ceil, "dim3": lambda *extents: extents}


class Constants:
    """The constants of a text. names: further ones, which hide those of the text, such as a template's parameters."""

    def __init__(self, text: str, names: Mapping[str, str] | None = None):
        text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self.functions: dict[str, tuple[list[str], str]] = {}
        self.found: dict[str, list[tuple[int, str]]] = {}  # by name, where it is given a value, and the value
        for name, parameters, body in _MACRO.findall(text):
            body = body.replace("\\\n", " ")
            if parameters:
                self.functions[name] = ([one.strip() for one in parameters.split(",")], body)
            else:
                self.found.setdefault(name, []).append((0, body))
        for name, parameters, body in _FUNCTION.findall(text):
            words = [one.split() for one in parameters.split(",")]
            self.functions.setdefault(name, ([one[-1].strip("*&") for one in words if one], body))
        for found in _VARIABLE.finditer(text):
            for one in between_commas(found["all"] or found["extents"]):
                if given := re.match(r"(\w+)\s*(?:=(.*)|([({].*[)}]))$", one.strip(), re.S):
                    value = given[2] or f"dim3({given[3][1:-1]})"
                    self.found.setdefault(given[1], []).append((found.start(), value))
        self.given = dict(names or {})

    def value(self, expression: str, place: int | None = None, depth: int = 0) -> int | float | tuple | None:
        """What an expression is at a place of the text, of a dim3 its extents; None if the text does not tell."""
        code = _SIZE.sub(lambda found: str(TYPE_BYTES.get(found[1], "unknown")), expression.replace("std::", ""))
        code = _STATIC_CAST.sub("", _CAST.sub("", code)).translate(str.maketrans("{}", "()", "'"))
        code = _FLOAT.sub(r"\1", _SUFFIX.sub(r"\1", code))
        try:
            found = self._of(ast.parse(code.strip(), mode="eval").body, {}, place, depth)
        except (SyntaxError, TypeError, ValueError, ArithmeticError, LookupError, RecursionError, MemoryError):
            return None
        return found if isinstance(found, tuple) or -LARGEST < found < LARGEST else None

    def whole(self, expression: str, place: int | None = None) -> int | None:
        """A positive whole number, or None."""
        found = self.value(expression, place)
        return found if isinstance(found, int) and found > 0 else None

    def _of(self, node: ast.expr, names: Mapping[str, object], place: int | None, depth: int):
        if depth > DEEPEST:
            raise RecursionError
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in names:
                return names[node.id]
            if node.id in self.given:
                body: str | None = self.given[node.id]
            else:  # the last one before the place
                bodies = [one for at, one in self.found[node.id] if place is None or at <= place]
                body = bodies[-1]
            return self._known(self.value(body, place, depth + 1))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._of(node.operand, names, place, depth)
        if isinstance(node, ast.BinOp):
            left, right = (self._of(side, names, place, depth) for side in (node.left, node.right))
            whole = isinstance(left, int) and isinstance(right, int)
            if isinstance(node.op, ast.Div):
                return left // right if whole else left / right
            if isinstance(node.op, ast.LShift) and right > 40:
                raise ValueError
            found = _OPERATIONS[type(node.op)](left, right)
            return int(found) if whole else found
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in "xyz":
            return (*self._of(node.value, names, place, depth), 1, 1)["xyz".index(node.attr)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            values = [self._of(one, names, place, depth) for one in node.args]
            if node.func.id in _CALLS:
                return _CALLS[node.func.id](*values)
            parameters, body = self.functions[node.func.id]
            inner = ast.parse(body.strip(), mode="eval").body
            return self._of(inner, dict(zip(parameters, values, strict=True)), place, depth + 1)
        raise ValueError

    @staticmethod
    def _known(value):
        if value is None:
            raise LookupError
        return value


def between_commas(text: str) -> list[str]:
    """The parts of a text between the commas that stand in no brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
