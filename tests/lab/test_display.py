"""Display does no work: nothing that shows itself compiles, launches, simulates or asks for the GPU to do so."""

import inspect
import pkgutil
from importlib import import_module

import pytest

import gemm_lab
import gpu_runner as device
import gpu_simulator
from gemm_lab.lab import on_simulator
from gpu_simulator import compiler, launching
from gpu_simulator.compiler.compiler_process import CompilerProcess

SHOWS = ("_repr_html_", "_repr_png_", "_repr_mimebundle_")


def show(thing):
    """Everything that a notebook or a terminal asks an object for, and its properties."""
    repr(thing), str(thing)
    for name in SHOWS:
        if hasattr(thing, name):
            getattr(thing, name)()
    for base in type(thing).__mro__:
        for name, value in vars(base).items():
            if base.__module__.startswith("gemm_lab") and isinstance(value, property):
                getattr(thing, name)


@pytest.mark.long
def test_what_is_shown_was_computed_before(made, monkeypatch, capsys):

    def refuse(*_, **__):
        pytest.fail("work was done for display")

    for place, names in (
        (compiler, ("compile", "disassemble")),
        (CompilerProcess, ("ask",)),
        (gpu_simulator, ("launch",)),
        (launching, ("launch",)),
        (on_simulator, ("launch", "check_on_simulator", "find_hazards", "search")),
        (device, ("available", "present", "launch", "session", "simulating_server", "why_not")),
    ):
        for name in names:
            monkeypatch.setattr(place, name, refuse)
    for thing in made:
        show(thing)


@pytest.mark.long
def test_of_everything_that_shows_itself_one_is_made(made):
    """A class that is new has to be added above."""
    seen = {base.__name__ for thing in made for base in type(thing).__mro__}
    missing = []
    for module in pkgutil.walk_packages(gemm_lab.__path__, "gemm_lab."):
        if module.name.endswith("__main__"):
            continue
        for name, found in inspect.getmembers(import_module(module.name), inspect.isclass):
            own = found.__module__ == module.name and any(shows in vars(found) for shows in SHOWS)
            if own and name not in seen:
                missing.append(f"{module.name}.{name}")
    assert missing == []
