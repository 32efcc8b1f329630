"""A check of SARIF 2.1.0 for the objects that gpu_simulator writes.

It is no copy of the schema of OASIS, which no package brings: it has its rules for these objects alone (the fields that
each must have, their types and values, and that an object has no field of another name), and takes no other object.
"""

import jsonschema

TEXT, COUNT = {"type": "string"}, {"type": "integer", "minimum": 0}


def _object(required: str = "", **fields) -> dict:
    return {"type": "object", "required": required.split(), "properties": fields, "additionalProperties": False}


def _list(item: dict, **more) -> dict:
    return {"type": "array", "items": item, **more}


MESSAGE = _object("text", text=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
PLACE = _object(
    "artifactLocation",
    artifactLocation=_object(uri={"type": "string", "format": "uri-reference", "pattern": r"^[^\s\\]+$"}),
    region=_object("startLine", startLine={"type": "integer", "minimum": 1}),
)
LOCATION = _object(physicalLocation=PLACE, logicalLocations=_list(_object(name=TEXT, kind=TEXT), uniqueItems=True))
SAID = {"level": LEVEL, "message": MESSAGE, "locations": _list(LOCATION), "properties": {"type": "object"}}
DRIVER = _object(
    "name", name=TEXT, version=TEXT, rules=_list(_object("id", id=TEXT, shortDescription=MESSAGE), uniqueItems=True)
)
RUN = _object(
    "tool",
    tool=_object("driver", driver=DRIVER),
    invocations=_list(
        _object(
            "executionSuccessful",
            executionSuccessful={"type": "boolean"},
            exitCode={"type": "integer"},
            toolExecutionNotifications=_list(_object("message", **SAID)),
        )
    ),
    results=_list(_object("message", ruleId=TEXT, ruleIndex=COUNT, **SAID)),
)
LOG = _object("version runs", **{"$schema": TEXT, "version": {"enum": ["2.1.0"]}, "runs": _list(RUN)})


def validate(log: dict) -> None:
    """Raise `jsonschema.ValidationError` for a log that breaks a rule, or whose results name rules that it lacks."""
    jsonschema.validate(log, LOG)
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        for result in run["results"]:
            if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
                raise jsonschema.ValidationError(f"{result['ruleId']} is not the rule {result['ruleIndex']}")
