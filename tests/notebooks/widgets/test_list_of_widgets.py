"""The lists of widgets in README.md and in the package's docstring name the widgets that there are, and they can be called."""

import ast
import re
from pathlib import Path

import pytest

import gemm_lab as lab
from gemm_lab.notebook import widgets

README = Path(__file__).resolve().parents[3] / "README.md"


def listed(text: str) -> dict[str, str]:
    """{name: call} of the widgets in the README's paragraph about them."""
    paragraph = next(part for part in text.split("\n\n") if part.startswith("Some pictures answer"))
    calls = re.findall(r"`((?:lab\.)?(\w+)\([^`]*\))`", paragraph)
    return {name: call for call, name in calls if name in widgets.__all__ or not call.startswith("lab.kernel")}


NAMED = frozenset({*widgets.__all__, "swizzle_puzzle"})  # the module of that name hides the function in widgets


def wrong(text: str, there=NAMED) -> set[str]:
    """The widgets that the text leaves out, and those that it names and that do not exist."""
    return set(listed(text)) ^ set(there)


def test_the_readme_names_every_widget():
    assert wrong(README.read_text(encoding="utf-8")) == set(), "README.md, “Some pictures answer …”"


def test_a_widget_that_is_left_out_is_seen():
    text = README.read_text(encoding="utf-8")
    assert wrong(text.replace("`mbarrier()`", "more")) == {"mbarrier"}
    assert wrong(text.replace("mbarrier()", "barrier()")) == {"mbarrier", "barrier"}
    assert wrong(text, {*NAMED, "quads"}) == {"quads"}


@pytest.mark.parametrize(
    "name",
    [
        name for name in widgets.__all__ if name not in ("wavefronts", "zoom", "tile_walk", "predicted_timeline")
    ],  # these take a result or a function
)
def test_the_calls_of_the_readme_work(name):
    call = ast.parse(listed(README.read_text(encoding="utf-8"))[name], mode="eval").body
    given = [ast.literal_eval(value) for value in call.args]
    named = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    made = getattr(lab if isinstance(call.func, ast.Attribute) else widgets, name)(*given, **named)
    assert made.text


def test_the_docstring_names_every_widget():
    assert re.findall(r"^widgets\.(\w+)\(", widgets.__doc__, re.M) == widgets.__all__
