"""Every call of gpu_runner in this repository, bound to the signature of what it calls.

Most of these calls are made only where there is a GPU, so no other test would see that one of them does not fit.
"""

import ast
import inspect
from pathlib import Path

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


def wrong_calls(text: str, inside: bool = False) -> list[str]:
    """What is wrong with the calls of gpu_runner in a Python file: "line: why". inside: it is gpu_runner's own file.

    Requests are read where they name their operation.
    """
    tree, modules, functions, found = ast.parse(text), set(), {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {each.asname or each.name for each in node.names if each.name == "gpu_runner"}
        elif isinstance(node, ast.ImportFrom) and node.module == "gpu_runner":
            functions |= {each.asname or each.name: each.name for each in node.names}
        elif inside and isinstance(node, ast.FunctionDef):
            functions[node.name] = node.name
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        match call.func:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules:
                target, place = getattr(gpu_runner, name, None), 1
            case ast.Name(id=name):
                target, place = getattr(gpu_runner, functions.get(name, ""), None), 1
            case ast.Attribute(attr="request"):
                target, place = gpu_runner.Session.request, 0
            case _:
                continue
        op = call.args[place].value if len(call.args) > place and isinstance(call.args[place], ast.Constant) else None
        if not inspect.isfunction(target) or (place == 0 and op not in TARGETS):
            continue
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        if None in named or any(isinstance(each, ast.Starred) for each in call.args):
            found.append(f"{call.lineno}: its arguments cannot be read")
            continue
        signature = inspect.signature(target)
        why = bind(signature, len(call.args) + (place == 0), set(named))  # a method's `self` as well
        if not why and op in TARGETS:
            sent = named.keys() - signature.parameters.keys()
            if place:  # `run_guarded` passes these on; `args` only where the worker does not make its inputs
                sent |= {"grid", "cluster"} | ({"args"} if not isinstance(named["args"], ast.Lambda) else set())
            why = bind(fields(op), 0, sent)
        found += [f"{call.lineno}: {why}"] if why else []
    return found


def test_every_call_fits_what_it_calls():
    own, found = ROOT / "packages/gpu_runner/__init__.py", {}
    for path in (path for folder in ("gemm_lab", "packages", "tools") for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "gpu_runner" in text or ".request(" in text:
            found[path.relative_to(ROOT).as_posix()] = wrong_calls(text, inside=path == own)
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
