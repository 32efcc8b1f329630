"""What a command found, as JSON, annotations of GitHub, SARIF 2.1.0 or JUnit XML, for a program that reads it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from gpu_simulator.compiler.diagnostics import CompileError
from gpu_simulator.errors import SimulatorError
from gpu_simulator.faults import BudgetExceeded, Extents, MalformedPtx, SimulatedFault, UnsupportedInstruction
from gpu_simulator.observers.hazards import Hazard
from gpu_simulator.observers.severities import SUSPICIOUS

CLEAN, FOUND, NOT_RUN = 0, 1, 2  # exit codes
ERROR, WARNING, NOTE = "error", "warning", "note"  # levels, as SARIF calls them
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    kind: that of a hazard or fault, "difference", "remark" or "not run".   level: ERROR, WARNING for what is only
    suspicious, or NOTE.   file, line: "" and 0 if no place is known.   timing: the one that shows it, or "".
    """

    kind: str
    level: str
    message: str
    file: str = ""
    line: int = 0
    ptx_line: int = 0
    block: Extents | None = None
    thread: Extents | None = None
    timing: str = ""


@dataclass
class Outcome:
    """What one command did, which is filled while it does it.

    file: its argument.   folders: where sources may lie that the findings name.   own: the name that findings give
    to the file.   text: the lines for a person.   facts: further fields of the JSON.
    """

    file: Path
    folders: Sequence[Path] = ()
    kernel: str = ""
    own: str = ""
    findings: list[Finding] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def code(self) -> int:
        """The exit code: NOT_RUN, FOUND if there is an error, or CLEAN."""
        if any(one.kind == "not run" for one in self.findings):
            return NOT_RUN
        return FOUND if any(one.level == ERROR for one in self.findings) else CLEAN

    def add_hazard(self, hazard: Hazard, timing: str = "") -> None:
        """Add a finding of the search for hazards. timing: the one that shows it, if the other does not."""
        level = WARNING if hazard.severity == SUSPICIOUS else ERROR
        self._add(hazard.kind, level, hazard.message, hazard, timing)

    def add_error(self, error: SimulatorError) -> None:
        """Add the error that ended the command; of a compiler, each of its messages."""
        if isinstance(error, CompileError) and error.diagnostics:
            for said in error.diagnostics:
                level = ERROR if said.severity == "error" else WARNING
                self.findings.append(Finding("not run", level, said.message, self.path(said.file), said.line))
        elif exit_code_of(error) == FOUND:
            self._add(getattr(error, "kind", ""), ERROR, error.message, error)
        else:
            self._add("not run", ERROR, error.message, error)

    def _add(self, kind: str, level: str, message: str, place: Any, timing: str = "") -> None:
        file, line, ptx_line = (getattr(place, name, None) for name in ("file", "line", "ptx_line"))
        if self.file.suffix == ".ptx" and not (file and Path(self.path(file)).is_file()):
            file, line = self.file.name, ptx_line
        threads = getattr(place, "block", None), getattr(place, "thread", None)
        where = self.path(file) if file and line else self.file.as_posix()
        self.findings.append(Finding(kind, level, message, where, line or 0, ptx_line or 0, *threads, timing))

    def path(self, file: str) -> str:
        """The path of a source file that a finding names, relative to the working folder if it lies there."""
        if file in (self.own, self.file.name):
            return self.file.as_posix()
        near = (folder / name for folder in (self.file.parent, *self.folders) for name in (file, Path(file).name))
        found = next((path for path in near if path.is_file()), Path(file))
        here = Path.cwd()
        return (found.relative_to(here) if found.is_relative_to(here) else found).as_posix()


def exit_code_of(error: SimulatorError) -> int:
    """FOUND for what a kernel did wrong while it ran, and NOT_RUN for any other error."""
    ran = isinstance(error, SimulatedFault) and not isinstance(error, (MalformedPtx, UnsupportedInstruction))
    if isinstance(error, BudgetExceeded):  # one of memory names no instruction
        ran = bool(error.ptx_line)
    return FOUND if ran else NOT_RUN


# ---- Formats ----


def as_text(outcome: Outcome, version: str) -> str:
    """The lines for a person."""
    return "\n".join(outcome.text)


def as_json(outcome: Outcome, version: str) -> str:
    """One object: tool, version, file, kernel, exit_code, findings, and the facts that the options asked for."""
    about = {"tool": "gpu_simulator", "version": version, "file": outcome.file.as_posix(), "kernel": outcome.kernel}
    found = {"exit_code": outcome.code, "findings": [asdict(one) for one in outcome.findings]}
    return json.dumps(about | found | outcome.facts, indent=2, ensure_ascii=False)


def in_repository(path: str) -> str:
    """A path as its repository has it, for programs that place a finding there; outside of one, unchanged.

    Where git is not installed, GitHub's checkout has no folder .git, and GITHUB_WORKSPACE names it.
    """
    whole, checkout = Path(path).resolve(), os.environ.get("GITHUB_WORKSPACE")
    roots = [folder for folder in whole.parents if (folder / ".git").exists()]
    roots += [Path(checkout).resolve()] if checkout else []
    inside = [root for root in roots if whole.is_relative_to(root)] if path else []
    return whole.relative_to(inside[0]).as_posix() if inside else path


def as_github(outcome: Outcome, version: str) -> str:
    """The lines for a person, and a workflow command for each finding, which GitHub shows at its line."""
    words = {ERROR: "error", WARNING: "warning", NOTE: "notice"}
    commands = []
    for one in outcome.findings:
        given = {"file": in_repository(one.file), "line": one.line or "", "title": one.kind}
        properties = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in given.items() if value)
        commands.append(f"::{words[one.level]} {properties}::{_escaped(one.message)}")
    return "\n".join([*outcome.text, *commands])


def _escaped(text: str, signs: str = "") -> str:
    """A value of a workflow command: what would end it, as a percent sign and the number of the character."""
    return re.sub(f"[%\r\n{signs}]", lambda sign: f"%{ord(sign[0]):02X}", text)


def as_sarif(outcome: Outcome, version: str) -> str:
    """A log of SARIF 2.1.0 with one run. What kept the kernel from running is a notification, not a result."""
    results = [one for one in outcome.findings if one.kind != "not run"]
    kinds = list(dict.fromkeys(one.kind for one in results))
    rules = [{"id": kind.replace(" ", "-"), "shortDescription": {"text": kind}} for kind in kinds]
    invocation: dict[str, Any] = {"executionSuccessful": outcome.code != NOT_RUN, "exitCode": outcome.code}
    if outcome.code == NOT_RUN:
        invocation["toolExecutionNotifications"] = [
            _said(one, outcome) for one in outcome.findings if one.kind == "not run"
        ]
    run = {
        "tool": {"driver": {"name": "gpu_simulator", "version": version, "rules": rules}},
        "invocations": [invocation],
        "results": [
            {"ruleId": one.kind.replace(" ", "-"), "ruleIndex": kinds.index(one.kind)} | _said(one, outcome)
            for one in results
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _said(one: Finding, outcome: Outcome) -> dict[str, Any]:
    """What a result of SARIF and a notification share."""
    path = Path(in_repository(one.file or outcome.file.as_posix()))
    place: dict[str, Any] = {
        "artifactLocation": {"uri": path.as_uri() if path.is_absolute() else quote(path.as_posix())}
    }
    if one.line:
        place["region"] = {"startLine": one.line}
    location: dict[str, Any] = {"physicalLocation": place}
    if outcome.kernel:
        location["logicalLocations"] = [{"name": outcome.kernel, "kind": "function"}]
    more = {"ptxLine": one.ptx_line, "block": one.block, "thread": one.thread, "timing": one.timing}
    said = {"level": one.level, "message": {"text": one.message}, "locations": [location]}
    return said | ({"properties": found} if (found := {name: value for name, value in more.items() if value}) else {})


def as_junit(outcome: Outcome, version: str) -> str:
    """A test case for the launch, with a failure if something was found, or an error if it did not run."""
    errors = [one for one in outcome.findings if one.level == ERROR]
    counts = {"tests": "1", "failures": str(int(outcome.code == FOUND)), "errors": str(int(outcome.code == NOT_RUN))}
    suite = ElementTree.Element("testsuite", {"name": "gpu_simulator", **counts})
    file = in_repository(outcome.file.as_posix())
    names = {"classname": file, "name": outcome.kernel or outcome.file.stem}
    case = ElementTree.SubElement(suite, "testcase", {**names, "file": file})
    if outcome.code != CLEAN:
        first = errors[0] if errors else outcome.findings[0]
        word = "failure" if outcome.code == FOUND else "error"
        said = ElementTree.SubElement(case, word, {"type": first.kind, "message": _xml(first.message)})
        said.text = "\n".join(_xml(f"{_place(one)}{one.kind}: {one.message}") for one in errors)
    ElementTree.SubElement(case, "system-out").text = _xml("\n".join(outcome.text))
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    ElementTree.indent(whole)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(whole, encoding="unicode")


def _place(one: Finding) -> str:
    """The line of a finding, if it has one and its message does not begin with it."""
    told = one.message.startswith(f"{Path(one.file).name}:{one.line}")
    return "" if told or not one.line else f"{in_repository(one.file)}:{one.line}: "


def _xml(text: str) -> str:
    """The text without the characters that XML does not have."""
    return _NOT_IN_XML.sub("?", text)


FORMATS: dict[str, Callable[[Outcome, str], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
    "junit": as_junit,
}
