"""A check of SARIF 2.1.0 for the objects that gpu_simulator writes.

It is not the schema of OASIS, which no package on PyPI brings, but has that schema's rules for these objects: which
fields each must have, their types and values, and that an object has no field of another name. It takes no other object.
"""

from __future__ import annotations

import re
from typing import Any

# A rule is a type, a set of values, a pattern, a list with the rule of its items, or a dict with the rules of the
# fields; a field whose name ends in "!" has to be there.
MESSAGE = {"text!": str}
PLACE = {"artifactLocation!": {"uri": re.compile(r"[^\s\\]+")}, "region": {"startLine!": range(1, 1 << 31)}}
SAID = {
    "message!": MESSAGE,
    "level": {"none", "note", "warning", "error"},
    "locations": [{"physicalLocation": PLACE, "logicalLocations": [{"name": str, "kind": str}]}],
    "properties": dict,
}
RUN = {
    "tool!": {"driver!": {"name!": str, "version": str, "rules": [{"id!": str, "shortDescription": MESSAGE}]}},
    "invocations": [{"executionSuccessful!": bool, "exitCode": int, "toolExecutionNotifications": [SAID]}],
    "results": [{"ruleId": str, "ruleIndex": range(1 << 31), **SAID}],
}
LOG = {"$schema": str, "version!": {"2.1.0"}, "runs!": [RUN]}


def faults(value: Any, rule: Any = LOG, where: str = "log") -> list[str]:
    """What breaks a rule, each with its place; of a log also a result that names a rule which the tool does not have."""
    if isinstance(rule, dict) and isinstance(value, dict):
        known = {name.rstrip("!"): one for name, one in rule.items()}
        found = [f"{where} lacks {name}" for name in rule if name.endswith("!") and name[:-1] not in value]
        for name, inner in value.items():
            found += faults(inner, known[name], f"{where}.{name}") if name in known else [f"{where} has {name}"]
        return found or (_rules(value) if rule is LOG else [])
    if isinstance(rule, list) and isinstance(value, list):
        return [said for number, item in enumerate(value) for said in faults(item, rule[0], f"{where}[{number}]")]
    if isinstance(rule, type):
        right = type(value) is rule
    elif isinstance(rule, re.Pattern):
        right = isinstance(value, str) and bool(rule.fullmatch(value))
    else:
        right = not isinstance(rule, (dict, list)) and not isinstance(value, bool) and value in rule
    return [] if right else [f"{where} is {value!r}"]


def _rules(log: dict[str, Any]) -> list[str]:
    found = []
    for run in log["runs"]:
        names = dict(enumerate(rule["id"] for rule in run["tool"]["driver"]["rules"]))
        found += [f"{r['ruleId']} is not its rule" for r in run["results"] if names.get(r["ruleIndex"]) != r["ruleId"]]
    return found
