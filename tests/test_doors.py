"""Old paths of modules: each leads to the module itself, and nothing here uses one."""

import importlib
import re
from pathlib import Path

import pytest

import gemm_lab
from gemm_lab.doors import MOVED

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("old", MOVED)
def test_a_door_leads_to_the_module_itself(old):
    module = importlib.import_module(old)
    assert module is importlib.import_module(MOVED[old]) and module.__name__ == MOVED[old]
    parent, _, name = old.rpartition(".")
    assert getattr(importlib.import_module(parent), name) is module, f"from {parent} import {name}"


def test_other_names_are_as_unknown_as_ever():
    with pytest.raises(ModuleNotFoundError, match="gemm_lab.published_texts"):
        importlib.import_module("gemm_lab.published_texts")
    with pytest.raises(AttributeError, match="gemm_lab has no “published_texts”"):
        _ = gemm_lab.published_texts


def uses(text: str) -> list[str]:
    """The old paths that a text names as modules."""
    return [name for name in MOVED if re.search(rf"(?<![\w./]){re.escape(name)}\b", text)] + [
        f"{parent}.{name}"
        for parent, _, name in (old.rpartition(".") for old in MOVED)
        if re.search(rf"from {re.escape(parent)} import (?:\([^)]*|[^\n]*)\b{name}\b", text)
    ]


def test_nothing_here_uses_a_door():
    folders = ("gemm_lab", "packages", "tools", "tests", "notebooks", "docs")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    files = [path for path in [*files, ROOT / "README.md"] if path.suffix in (".py", ".pyi", ".ipynb", ".md", ".js")]
    apart = {ROOT / "gemm_lab/doors.py", Path(__file__).resolve()}
    found = {path.name: uses(path.read_text(encoding="utf-8")) for path in files if path not in apart}
    assert {name: old for name, old in found.items() if old} == {}
    assert uses("from gemm_lab import catalog, plots") == uses("import gemm_lab.plots.style") == ["gemm_lab.plots"]
    assert uses("from gemm_results import plots\nimport gemm_lab.plotting") == []
