"""Styles stand in one file, and JupyterLab keeps them in the outputs of untrusted notebooks too."""

import re
from pathlib import Path

import pytest

import gemm_lab
from gemm_look import theme
from gemm_look.table import Table

PACKAGE = Path(gemm_lab.__file__).parent
PAPERS = {"light": (255, 255, 255), "dark": (17, 17, 17)}  # of JupyterLab's cells
INLINE = re.compile(r"""<[^>\n]*\bstyle=\\?["'{]""")


def test_no_other_file_writes_styles():
    found = [
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "theme.py" and INLINE.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
    assert INLINE.search("f'<div style=\"color:red\">'") and INLINE.search(
        Path(theme.__file__).read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", ["GOOD", "BAD", "WARN", "NOTE", "CODE_WORD", "CODE_VALUE", "CODE_COMMENT"])
def test_colours_are_legible_on_light_and_on_dark(name, paper):
    text = tuple(int(getattr(theme, name)[at : at + 2], 16) for at in (1, 3, 5))
    light, dark = sorted((_luminance(text), _luminance(PAPERS[paper])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4, "WCAG 2 asks for 3 of large text and 4.5 of small text"


def test_nothing_but_translucent_tints_covers_the_paper():
    """So text in the colour of the page stays legible; variables and sheets are dropped of untrusted notebooks."""
    for style in theme.STYLES.values():
        assert "var(" not in style and not re.search(r"background:#", style)
    assert all(
        float(tint.split(",")[-1].rstrip(")")) < 0.5 for tint in (theme.TINT_HOT, theme.TINT_BAD, theme.TINT_GOOD)
    )


def test_a_table_is_escaped_and_aligned():
    table = Table(["name", "n"], [["<b>", "1"], ["long", "22"]], "a < b")
    assert "&lt;b&gt;" in table.html() and "a &lt; b" in table.html()
    assert table.lines() == ["name   n", "<b>    1", "long  22"]
    assert table.lines(aligned=False) == ["name  n", "<b>   1", "long  22"]


def _luminance(colour: tuple[int, ...]) -> float:
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
