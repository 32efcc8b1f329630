"""Public functions say what they take and return: the package ships py.typed, so a user's checker reads them."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# What a user of the package does not call, and of it what a user meets all the same.
INSIDE = {"arithmetic", "codegen", "machine", "observers", "tests", "build", "dist"}
MET = (
    "codegen/ops/__init__.py",
    "machine/observer.py",
    "machine/address_space.py",
    "observers/hazards.py",
)


def public(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not node.name.startswith("_")


def bare(source: str) -> list[str]:
    """`function: name` of each parameter or result of a public function or method that has no annotation."""
    found = []
    for node in filter(public, ast.parse(source).body):
        a_class = isinstance(node, ast.ClassDef)
        for function in filter(public, node.body) if a_class else [node]:
            if isinstance(function, ast.ClassDef):
                continue
            bound = a_class and "staticmethod" not in map(ast.unparse, function.decorator_list)
            given = function.args
            named = [*given.posonlyargs, *given.args][bound:] + given.kwonlyargs
            named += filter(None, (given.vararg, given.kwarg))
            found += [f"{function.name}: {one.arg}" for one in named if one.annotation is None]
            found += [f"{function.name}: its result"] * (function.returns is None)
    return found


def test_public_functions_are_annotated():
    outside = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in INSIDE]
    files = [*outside, *(PACKAGE / name for name in MET)]
    found = {path.relative_to(PACKAGE).as_posix(): bare(path.read_text("utf-8")) for path in files}
    assert len(found) > 60 and {name: what for name, what in found.items() if what} == {}


def test_a_bare_function_is_seen():
    assert bare("def f(a, *b: int) -> None: ...") == ["f: a"]
    assert bare("def f(a: int): ...\ndef _g(a): ...") == ["f: its result"]
    assert bare("class C:\n def f(self, a) -> int: ...\n @staticmethod\n def g(a) -> int: ...") == ["f: a", "g: a"]
