"""The message about a value of a register that nothing has written, with the variable's name if the source shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gpu_simulator.codegen.unwritten_registers import flow_of, stored_in
from gpu_simulator.observers.hazards import Hazard
from gpu_simulator.observers.severities import SUSPICIOUS
from gpu_simulator.ptx.ir import Instruction

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_DECLARATION = re.compile(
    r"(?<![\w.>:])(?:(?:unsigned|signed|short|long|int|char|bool|auto|float|double|(?:u?int|float)[234]|size_t|[a-z]\w*_t)\b[\s*&]*)+"
    r"(?P<names>\w[^;{})]*(?:\([^;{}]*)?)[;)]"
)


def message(resident: Any, site: int, register: int, lane: int) -> str:
    """The sentence. register: its number, and lane: that of the thread among the resident blocks, which uses it."""
    launch, program = resident.launch, resident.program
    origins = program.unwritten.origins[register]
    readers = [item for item in program.sites if -1 - item.site in origins or origins.intersection(_read(item))]
    inline = sorted({name for name in (program.registers[n].name for n in origins if n >= 0) if name[0] != "%"})
    names = _variables([program.sites[site], *readers], launch.files or {})
    uses, may = f"{resident.describe(site)}: {resident.name_lane(lane)} uses", "it may hold anything"
    if inline:
        declared = _declared_at(inline[0], launch.files or {}) or _line(readers[0])
        return (
            f"{uses} a value of {_listed(inline)}, a register of the assembly at {declared} that nothing has "
            f"written: {may}. Write it first."
        )
    if min(origins) < 0:
        return (
            f"{uses} a value of {_listed(names) or 'an array or a structure of its own'}, read at {_line(readers[0])} "
            f"in local memory, where nothing has written: {may}. Set all of it before it is read."
        )
    if names and register not in program.unwritten.direct:
        return f"{uses} a value from shared memory that depends on {_listed(names)}, which nothing has set: {may}."
    if names:
        return (
            f"{uses} the value of {_listed(names)}, to which nothing has given one: {may}. Set it where it is "
            f"declared, as in {names[0]} = 0."
        )
    return (
        f"{uses} the value of a register that nothing has written ({program.registers[min(origins)].name}, first read "
        f"at {_line(readers[0])}): {may}. Give every variable a value where it is declared."
    )


def warned(warnings: Iterable[Any], said: Iterable[str]) -> list[Hazard]:
    """A finding for each variable that, as the compiler warns, is used before it is set, unless it is in `said`.

    Where the code always uses such a variable, the compiler leaves out what depends on it, and no register remains.
    """
    found = []
    for warning in warnings:
        name = re.search(r'variable "(\w+)" is used before its value is set', warning.message)
        if name and not any(re.search(rf"\b{name[1]}\b", sentence) for sentence in said):
            message = (
                f"{warning.file}:{warning.line}: the compiler warns that {name[1]} is used before it has a value, and "
                f"may leave out what depends on it. Set it where it is declared, as in {name[1]} = 0."
            )
            found.append(Hazard("unwritten register", message, warning.line, 0, SUSPICIOUS, warning.file))
    return found


def _listed(names: list[str]) -> str:
    return " or ".join(names)


def _read(item: Instruction) -> set[int]:
    flow = flow_of(item)
    return {*flow.sources, *flow.used, *stored_in(item, "shared"), *stored_in(item, "local")}


def _variables(items: list[Instruction], files: Mapping[str, str]) -> list[str]:
    """Variables without an initialiser that the line of one of these instructions names, the first that names any."""
    # A call comes before what was inlined, which only has other names for the same variables.
    places = [place for item in items if item.location for place in reversed(item.location.frames)]
    return next((names for file, line in dict.fromkeys(places) if (names := _unset(files.get(file, ""), line))), [])


def _declared_at(name: str, files: Mapping[str, str]) -> str:
    """The line of the one .reg in the source that declares a register of this name; "" unless there is one."""
    pattern = re.compile(rf"\.reg\b[^;]*[\s,]{re.escape(name)}\s*[,;<]")
    found = [
        (file, text.count("\n", 0, one.start()) + 1) for file, text in files.items() for one in pattern.finditer(text)
    ]
    return "{}:{}".format(*found[0]) if len(found) == 1 else ""


def _line(item: Instruction) -> str:
    if item.location is None:
        return f"PTX line {item.line}"
    file, line = item.location.frames[-1]
    return f"{file}:{line}"


def _unset(text: str, line: int) -> list[str]:
    """The variables that a line names and whose declaration, the last one above, gives them no value."""
    lines = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text).split("\n")[:line]
    if not 0 < line <= len(lines):
        return []
    words = set(re.findall(r"[A-Za-z_]\w*", lines[-1]))
    return [name for name, unset in dict(_declarations("\n".join(lines))).items() if unset and name in words]


def _declarations(text: str) -> Iterator[tuple[str, bool]]:
    """(name, whether it gets no value) of each variable and parameter of a whole number that the text declares."""
    for declaration in _DECLARATION.finditer(text):
        before = re.split("[;{}]", text[: declaration.start()])[-1]
        whole = declaration[0].endswith(";") and not re.search("__(shared|constant|device)__|extern|static", before)
        for part in _parts(declaration["names"]):
            name = re.match(r"(?:const\s+|[\w:]+[\s*&]+)*[\s*&]*([A-Za-z_]\w*)", part.partition("=")[0].strip())
            if name:
                yield name[1], whole and "=" not in part and "(" not in part


def _parts(text: str) -> list[str]:
    """The text divided at commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([<{") - (character in ")]>}")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
