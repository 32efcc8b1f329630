"""Leaves out branches to another branch or to the line that follows anyway, and lines that nothing leads to."""

from __future__ import annotations

import re
from dataclasses import replace

from llvm_ir_to_ptx.code import Line

_BRANCH = re.compile(r"(?:@(!?)(\S+) )?bra (\S+);")
_NEVER_GOES_ON = re.compile(r"bra \S+;|ret;|exit;")


def with_few_branches(lines: list[Line]) -> list[Line]:
    """The same program with as few branches as possible, and the blocks in the same order."""
    while True:
        shorter = _turned(_reached(_straight(lines)))
        if len(shorter) == len(lines):
            return shorter
        lines = shorter


def _straight(lines: list[Line]) -> list[Line]:
    """The lines with each branch leading where a branch at its target would lead at once."""
    leads_to: dict[str, str] = {}
    following: Line | None = None
    for line in reversed(lines):
        if not line.is_label:
            following = line
            continue
        branch = _BRANCH.fullmatch(following.text) if following else None
        if branch and not branch[2] and branch[3] != line.text[:-1]:
            leads_to[line.text[:-1]] = branch[3]
    return [_leading(line, leads_to) for line in lines]


def _leading(line: Line, leads_to: dict[str, str]) -> Line:
    branch = _BRANCH.fullmatch(line.text)
    if branch is None:
        return line
    target, seen = branch[3], {branch[3]}
    while target in leads_to and leads_to[target] not in seen:
        target = leads_to[target]
        seen.add(target)
    return replace(line, text=line.text[: branch.start(3)] + f"{target};")


def _reached(lines: list[Line]) -> list[Line]:
    """The lines without labels that no branch names, and without those behind the end of a block."""
    named = {branch[3] for line in lines if (branch := _BRANCH.fullmatch(line.text))}
    kept: list[Line] = []
    is_reached = True
    for line in lines:
        if line.is_label:
            if line.text[:-1] not in named:
                continue
            is_reached = True
        if is_reached:
            kept.append(line)
        if _NEVER_GOES_ON.fullmatch(line.text):
            is_reached = False
    return kept


def _turned(lines: list[Line]) -> list[Line]:
    """The lines without branches to what follows anyway; one around another branch takes the other's place."""
    kept: list[Line] = []
    for number, line in enumerate(lines):
        branch = _BRANCH.fullmatch(line.text)
        if branch and _follows(lines, number + 1, branch[3]):
            continue
        before = _BRANCH.fullmatch(kept[-1].text) if kept else None
        if branch and not branch[2] and before and before[2] and _follows(lines, number + 1, before[3]):
            sign = "" if before[1] else "!"
            kept[-1] = replace(kept[-1], text=f"@{sign}{before[2]} bra {branch[3]};")
            continue
        kept.append(line)
    return kept


def _follows(lines: list[Line], number: int, label: str) -> bool:
    """Whether a label stands at this line, perhaps behind other labels."""
    while number < len(lines) and lines[number].is_label:
        if lines[number].text[:-1] == label:
            return True
        number += 1
    return False
