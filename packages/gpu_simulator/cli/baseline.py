"""The baseline of a test: a JSON file with what launches cost when it was written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from gpu_simulator.compiler import clang, nvrtc, nvrtc_library
from gpu_simulator.errors import MissingDependency
from gpu_simulator.report import Report

COUNTED = ("instructions", "wavefronts", "sectors")  # what it holds of a launch


class Baseline:
    """The counts of launches by name. writes: whether this session writes those of its launches anew.
    using: the compiler of .cu files, as for `simulate`.

    Raises ValueError for a file that is no baseline.
    """

    def __init__(self, path: Path, writes: bool, using: str | None = None):
        self.path, self.writes, self.using = path, writes, using
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if not isinstance(found, dict) or not isinstance(found.get("launches", {}), dict):
            raise ValueError("it has no launches")
        self.compiler: str = found.get("compiler", "")
        self.launches: dict[str, Mapping[str, int]] = found.get("launches", {})

    def judge(self, name: str, report: Report) -> tuple[str, str]:
        """(what is worse than in the file, or what is only better), each a sentence or "". A session that writes notes
        the counts instead.
        """
        every = {"instructions": report.instructions, **asdict(report.totals)}
        now, before = {kind: every[kind] for kind in COUNTED}, self.launches.get(name)
        if self.writes:
            self.launches[name] = now
            return "", ""
        if before is None:
            return f"{self.path.name} has no counts of {name}", ""
        change = {kind: now[kind] - before.get(kind, 0) for kind in COUNTED}
        worse = any(by > 0 for by in change.values())
        changed = [kind for kind, by in change.items() if (by > 0 if worse else by < 0)]
        if not changed:
            return "", ""
        counts = ", ".join(f"{kind} {before.get(kind, 0):,} → {now[kind]:,}" for kind in changed)
        said = f"{name} costs {'more' if worse else 'less'} than in {self.path.name}: {counts}"
        if (now_with := compiler_name(self.using)) != self.compiler:
            said += f" (it was written with {self.compiler}, and this is {now_with})"
        return (said, "") if worse else ("", said)

    def save(self) -> None:
        """Write the file."""
        held = {"compiler": compiler_name(self.using), "launches": dict(sorted(self.launches.items()))}
        self.path.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


def compiler_name(using: str | None) -> str:
    """The compiler of .cu files and its version; counts of instructions may differ between two."""
    try:
        if nvrtc.chosen(using) == "clang":
            return clang.version()
        return f"NVRTC {'.'.join(map(str, nvrtc_library.version()))}"
    except MissingDependency:  # PTX needs none
        return "no compiler"
