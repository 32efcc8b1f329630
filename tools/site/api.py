"""The page of gpu_simulator's modules, made from their docstrings, which are written in Markdown."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from types import ModuleType
from typing import Any

from tools.site.links import anchor

PACKAGE = "gpu_simulator"
PAGE = f"{PACKAGE}.md"
# The modules that other packages import, without the package's name. The simulator has versions of its own, so each is
# a promise: one that is renamed or goes needs a new major version, or a door. One that another package begins to use is
# added here.
FACE = {
    "",
    "allow_list",
    "argument_checks",
    "cli.argument_words",
    "cli.array_parts",
    "cli.command_line",
    "cli.terminal",
    "codegen.ops.memory.bulk",
    "codegen.program",
    "compiler",
    "compiler.clang",
    "compiler.compiler_process",
    "compiler.declarations",
    "compiler.device_code",
    "compiler.diagnostics",
    "compiler.disassembly",
    "compiler.nvrtc",
    "compiler.nvrtc_library",
    "compiler.sandbox",
    "effort",
    "errors",
    "faults",
    "hardware.bank_schedule",
    "hardware.banks",
    "hardware.data_sheets",
    "hardware.exact_sums",
    "hardware.instruction_descriptor",
    "hardware.matrix_descriptor",
    "hardware.matrix_descriptor_sm100",
    "hardware.mma_layouts",
    "hardware.number_types",
    "hardware.presence",
    "hardware.swizzle",
    "hardware.tensor_map",
    "hardware.wmma_access",
    "kernel_file",
    "launch_checks",
    "launching",
    "layouts.reasons",
    "layouts.recorded_accesses",
    "layouts.sentences",
    "layouts.studied_launch",
    "layouts.trials",
    "machine.argument_structs",
    "machine.counting",
    "machine.observer",
    "memory_limit",
    "observers.access",
    "observers.hazards",
    "observers.severities",
    "ptx.basic_blocks",
    "ptx.declarations",
    "ptx.demangle",
    "ptx.inlining",
    "ptx.ir",
    "ptx.parameter_types",
    "ptx.parser",
    "ptx.shared_declarations",
    "ptx.struct_types",
    "ptx.types",
    "report",
    "simulating",
}
HEAD = f"""# The modules of {PACKAGE}

These are the modules that other packages use. Their names stay until the first number of the version changes; what is
not listed here may change with every release.
"""


class _Bare(str):
    """An annotation, which a signature shows without quotation marks."""

    __repr__ = str.__str__


@cache
def modules() -> dict[str, ModuleType]:
    """{name: module} of the public modules."""
    names = [f"{PACKAGE}.{name}".rstrip(".") for name in sorted(FACE)]
    return {name: importlib.import_module(name) for name in names}


def members(module: ModuleType) -> dict[str, Any]:
    """{name: class or function} of what a module defines, and of what it exports from a module without a part here."""
    homes, exported = modules(), getattr(module, "__all__", ())
    return {
        name: value
        for name, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isroutine(value)) and not name.startswith("_")
        if value.__module__ == module.__name__ or (name in exported and value.__module__ not in homes)
    }


def elsewhere(module: ModuleType) -> dict[str, str]:
    """{name: module} of what a module exports and another part of the page describes."""
    found = {name: getattr(vars(module)[name], "__module__", "") for name in getattr(module, "__all__", ())}
    return {name: home for name, home in found.items() if home != module.__name__ and home in modules()}


def constants(module: ModuleType) -> list[str]:
    """The public names in capital letters that a module assigns."""
    body = ast.parse(inspect.getsource(module)).body
    targets = [one for node in body for one in getattr(node, "targets", [getattr(node, "target", None)])]
    return [one.id for one in targets if isinstance(one, ast.Name) and one.id.isupper() and one.id[0] != "_"]


def methods(kind: Any) -> dict[str, Any]:
    """{name: method or property} of what a class itself defines; {} for a function."""
    written = (property, cached_property, classmethod, staticmethod)
    return {
        name: value
        for name, value in (vars(kind).items() if inspect.isclass(kind) else ())
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, written))
    }


def words(described: Any) -> str:
    """A docstring as Markdown; "" if there is none, or only the one that a dataclass writes itself."""
    text = inspect.cleandoc(getattr(described, "__doc__", None) or "")
    own = "" if text.startswith(f"{getattr(described, '__name__', None)}(") else text
    return re.sub(r"\n(?=\w+(, \w+)*: )", "\n\n", own)  # each parameter on a line of its own


def signature(name: str, described: Any) -> str:
    """How something is called, a parameter a line where one line is too long; only the name for a property."""
    described = getattr(described, "__func__", described)
    try:
        found = inspect.signature(described)
    except (TypeError, ValueError):  # a property, or an exception with Python's own arguments
        return name
    given = [one for one in found.parameters.values() if one.name not in ("self", "cls")]
    bare = [one.replace(annotation=_annotation(one), default=_default(one)) for one in given]
    returned = found.empty if inspect.isclass(described) else _annotation(found, "return_annotation")
    line = f"{name}{found.replace(parameters=bare, return_annotation=returned)}"
    if len(line) <= 80 or not bare:
        return line
    closing = "" if returned is found.empty else f" -> {inspect.formatannotation(returned)}"
    return "\n".join([f"{name}(", *(f"    {one}," for one in bare), f"){closing}"])


def _annotation(one: Any, name: str = "annotation") -> Any:
    annotation = getattr(one, name)
    return _Bare(annotation) if isinstance(annotation, str) else annotation


def _default(one: inspect.Parameter) -> Any:
    """What stands for a default: it itself, or … where it is long, as tables are, or made for each call."""
    text = repr(one.default)
    return one.default if one.default is one.empty or len(text) < 50 and "<" not in text else _Bare("…")


def page() -> str:
    """The page as Markdown."""
    return "\n\n".join([HEAD.strip(), *(text for module in modules().values() for text in _part(module))]) + "\n"


def _part(module: ModuleType) -> Iterator[str]:
    yield from (f"## {module.__name__}", words(module))
    if values := constants(module):
        yield "Values: " + ", ".join(f"`{name}`" for name in values) + "."
    if others := elsewhere(module):
        yield "Also here: " + ", ".join(f"[`{name}`](#{anchor(home)})" for name, home in others.items()) + "."
    for name, described in members(module).items():
        yield from (f"### {name}", f"```python\n{signature(name, described)}\n```", words(described))
        for inner, method in methods(described).items():
            yield from (f"```python\n{name}.{signature(inner, method)}\n```", words(method))
