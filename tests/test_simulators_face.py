"""Which modules of the simulator other packages import. It has versions of its own, so each of these is a promise.

`FACE` of `tools.site.api` lists them, and the site has a page of them.
"""

import re
from dataclasses import dataclass

import gpu_simulator
from gpu_simulator.memory_limit import FORMER
from tests.test_architecture import file_imports
from tools.site import api
from tools.site.api import FACE
from tools.sizes import home


def used() -> set[str]:
    """The modules of the simulator that other packages import, without the package's name; "" is the package itself."""
    edges = file_imports().items()
    others = {other for name, found in edges if not name.startswith("gpu_simulator") for other in found}
    mine = {other for other in others if other.partition(".")[0] == "gpu_simulator"}
    return {other.removeprefix("gpu_simulator").removeprefix(".") for other in mine}


def test_other_packages_import_these_modules_and_no_others():
    assert used() - FACE == set(), "added to the list, this becomes a promise"
    assert FACE - used() == set(), "no longer used, so no longer promised"


def test_the_simulator_names_no_variable_of_the_lab_but_the_former_one_of_its_memory():
    named = re.compile(r"GEMM_LAB_\w+")
    found = {
        (path.name, name)
        for path in home("gpu_simulator").rglob("*.py")
        if "tests" not in path.parts
        for name in named.findall(path.read_text(encoding="utf-8"))
    }
    assert found == {("memory_limit.py", FORMER)}


def test_the_versions_changes_are_told():
    told = (home("gpu_simulator") / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {gpu_simulator.__version__} " in told


def test_each_public_name_is_on_the_page_with_its_words():
    page = api.page()
    shown = {part.partition("\n")[0]: part for part in page.split("\n## ")[1:]}
    assert [*shown] == [*api.modules()]
    for name, module in api.modules().items():
        members = api.members(module)
        described = [
            module,
            *members.values(),
            *(one for kind in members.values() for one in api.methods(kind).values()),
        ]
        assert [one for one in described if not api.words(one)] == [], name
        assert [one for one in members if f"\n### {one}\n" not in shown[name]] == []
        assert [one for one in getattr(module, "__all__", ()) if f"### {one}\n" not in page] == []
    assert {"launch", "simulate", "supported", "Report"} <= {*gpu_simulator.__all__}


def test_the_page_shows_nothing_that_differs_between_processes():
    page = api.page()
    assert " at 0x" not in page and "frozenset({" not in page and "language: Language = …" in page


def test_what_has_no_words_is_seen():
    @dataclass
    class Bare:
        x: int

        def moved(self, by: "int" = 1) -> "Bare": ...

    assert api.words(Bare) == "" and [api.words(one) for one in api.methods(Bare).values()] == [""]
    assert api.signature("moved", Bare.moved) == "moved(by: int = 1) -> Bare"
