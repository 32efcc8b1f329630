"""Every call of gpu_runner and of its modules in this repository, bound to the signature of what it calls.

Most of these calls are made only where there is a GPU, so no other test would see that one of them does not fit.
"""

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gemm_lab as lab
import gpu_runner
from gemm_lab.lab import on_simulator
from gemm_lab.lab.measuring import check_kernel
from gemm_lab_classroom.gateway import requests
from gpu_runner import operations
from gpu_runner.timing import rounds, verify

ROOT = Path(__file__).resolve().parents[2]
WORKER = {"device", "support", "blas", "context"}  # what the worker adds
TARGETS = {
    "hello": operations.hello,
    "launch": operations.launch,
    "verify": verify.verify,
    "benchmark": rounds.benchmark,
}


def fields(op: str) -> inspect.Signature:
    """The signature of an operation as a request has it."""
    whole = inspect.signature(TARGETS[op])
    return whole.replace(parameters=[one for one in whole.parameters.values() if one.name not in WORKER])


def bind(signature: inspect.Signature, places: int, names: set[str]) -> str:
    try:
        signature.bind(*range(places), **dict.fromkeys(names))
    except TypeError as error:
        return str(error)
    return ""


def imported(tree: ast.AST) -> dict[str, Any]:
    """What a file calls gpu_runner, its modules and what is in them: {name: module, function or class}."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.asname or each.name: gpu_runner for each in node.names if each.name == "gpu_runner"}
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("gpu_runner."):
            home = importlib.import_module(node.module)
            for each in node.names:
                inside = hasattr(home, each.name)
                value = getattr(home, each.name) if inside else importlib.import_module(f"{node.module}.{each.name}")
                found[each.asname or each.name] = value
    return found


def called(call: ast.Call, names: dict[str, Any]) -> Any:
    """The function or class that a call names; None for one that is not gpu_runner's, and for one of C."""
    target = None
    match call.func:
        case ast.Name(id=name):
            target = names.get(name)
        case ast.Attribute(value=ast.Name(id=module), attr=name) if inspect.ismodule(names.get(module)):
            target = getattr(names[module], name, None)
        case ast.Attribute(attr="request"):
            target = gpu_runner.Session.request
    return target if inspect.isfunction(target) or inspect.isclass(target) and "__init__" in vars(target) else None


def wrong_calls(text: str, own: ModuleType | None = None) -> list[str]:
    """What is wrong with the calls of gpu_runner in a Python file: "line: why". own: the module, if it is of gpu_runner.

    Requests are read where they name their operation. A call with arguments that cannot be read, as in `f(*a)`, is
    wrong if it names an operation, and left out if not.
    """
    tree, found = ast.parse(text), []
    defined = {
        node.name: getattr(own, node.name) for node in getattr(tree, "body", ()) if own and hasattr(node, "name")
    }
    names = defined | imported(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        target = called(call, names)
        place = int(target is not gpu_runner.Session.request)  # of the name of the operation
        op = call.args[place].value if len(call.args) > place and isinstance(call.args[place], ast.Constant) else None
        op = op if target in (gpu_runner.run_guarded, gpu_runner.Session.request) and op in TARGETS else None
        if target is None or (place == 0 and op is None):
            continue
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        if None in named or any(isinstance(each, ast.Starred) for each in call.args):
            found += [f"{call.lineno}: its arguments cannot be read"] if op or target.__module__ == "gpu_runner" else []
            continue
        signature = inspect.signature(target)
        why = bind(signature, len(call.args) + (place == 0), set(named))  # a method's `self` as well
        if not why and op:
            sent = named.keys() - signature.parameters.keys()
            if place:  # `run_guarded` passes these on; `args` only where the worker does not make its inputs
                sent |= {"grid", "cluster"} | ({"args"} if not isinstance(named["args"], ast.Lambda) else set())
            why = bind(fields(op), 0, sent)
        found += [f"{call.lineno}: {why}"] if why else []
    return found


def test_every_call_fits_what_it_calls():
    found = {}
    for path in (path for folder in ("gemm_lab", "packages", "tools") for path in (ROOT / folder).rglob("*.py")):
        text, parts = path.read_text(encoding="utf-8"), path.relative_to(ROOT).with_suffix("").parts
        own = None
        if parts[:2] == ("packages", "gpu_runner"):
            own = importlib.import_module(".".join(parts[1:]).removesuffix(".__init__"))
        if "gpu_runner" in text or ".request(" in text:
            found[path.relative_to(ROOT).as_posix()] = wrong_calls(text, own)
    assert len(found) > 20 and {name: wrong for name, wrong in found.items() if wrong} == {}


LAUNCH = "import gpu_runner as device\ndevice.launch(made, grid=grid, args=args"
VERIFY = (
    "import gpu_runner as device\ndevice.run_guarded(made, 'verify', grid=g, cluster=c, timeout_s=None, args=lambda: a"
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LAUNCH + ", names=names)", "unexpected keyword argument 'names'"),
        (LAUNCH.replace("args=args", "") + ")", "missing a required"),
        (LAUNCH + ", **options)", "cannot be read"),
        (VERIFY + ", compiled=x)", "missing a required"),
        ("from gpu_runner import launch as go\ngo(made, 5)", "too many positional"),
        ("session.request('benchmark', problem=p, regimes=r)", "unexpected|missing"),
        ("session.request('hello', 5)", "too many positional"),
        (
            "from gpu_runner.baselines import cublaslt\ncublaslt.candidates(d, w, s, 1, 1, 1, 1.0, 0.0, t, [], 0)",
            "too many",
        ),
        ("from gpu_runner.timing.rounds import sample as go\ngo(d, entries, regime=r)", "missing a required"),
        ("from gpu_runner.timing import rounds\nrounds.Entry(name)", "missing a required"),
    ],
)
def test_a_call_that_does_not_fit_is_seen(text, why):
    (found,) = wrong_calls(text)
    assert any(word in found for word in why.split("|")), found
    assert wrong_calls(LAUNCH + ")") == []


@pytest.mark.parametrize("op", TARGETS)
def test_the_gateway_lets_through_what_the_worker_takes(op):
    told, taken = requests.OPERATIONS["gpu"][op], fields(op).parameters.values()
    assert {name.removeprefix("?") for name in told} == {one.name for one in taken}
    assert {one.name for one in taken if one.default is one.empty} == {name for name in told if name[0] != "?"}


class Simulated:
    """A session whose worker has no GPU: it takes the requests of one, and simulates."""

    def __init__(self, compiled):
        self.compiled, self.output, self.seen = compiled, "", []

    def request(self, op, *, timeout_s=None, progress=None, patience_s=None, **payload):
        fields(op).bind(**payload)
        self.seen.append(op)
        arrays, _ = on_simulator.launch(self.compiled, payload["grid"], payload["args"], payload["cluster"])
        return {"arrays": dict(enumerate(arrays))}


def test_a_check_and_a_product_go_all_the_way(monkeypatch):
    made = lab.kernel("decode/04")(BLOCK_M=24)
    compiled = made.compile("sm_90a")
    worker = Simulated(compiled)
    monkeypatch.setattr(gpu_runner, "session", lambda: worker)
    assert [verdict.passed for verdict in check_kernel(made, compiled, 24, 64, 128)] == [True] * 3
    assert worker.seen == ["launch"] * 3
    with pytest.raises(TypeError, match="names"):
        worker.request("launch", compiled={}, grid=(1, 1, 1), args=[np.zeros(4)], names=())
