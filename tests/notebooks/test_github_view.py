"""The stored cards as GitHub shows them, without styles: tables, verdicts with ✓ or ✗, and no heap of loose lines."""

import re
from pathlib import Path

import nbformat
import pytest
from github_view import loose_runs, stripped

from gemm_look import theme
from gemm_look.card import card, facts, folded, mark, remark
from gemm_look.table import Table

ROOT = Path(__file__).resolve().parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_LOOSE = 8
# A card whose edge is green or red; `lab.here()` has an edge of its own, and no verdict.
VERDICT = re.compile(f"{re.escape(theme.STYLES['card'])};border-left:4px solid ({theme.GOOD}|{theme.BAD})")
MARKS = re.compile(r"style=|class=|<script|<style|<svg")


def html_of(path: Path):
    """(number of the cell, HTML) of every stored output."""
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                yield number, output.data["text/html"]


def troubles(html: str):
    """What is wrong with a card once its styles are gone."""
    bare = stripped(html)
    if MARKS.search(re.sub(r"<pre>.*?</pre>|<code>.*?</code>", "", bare, flags=re.S)):
        yield "styles are left"
    if VERDICT.search(html) and not re.search("[✓✗]", bare):
        yield "a verdict without ✓ or ✗"
    if html.count("<table") != bare.count("<table") or html.count("<tr") != bare.count("<tr"):
        yield "a table is lost"
    for row in re.findall(r"<tr>(.*?)</tr>", bare, flags=re.S):
        if not re.search("<t[dh]", row):
            yield "a row without cells"
    labels = len(re.findall(r'style="display:block;font-weight:normal', html))
    if labels > len(re.findall("<th", bare)):
        yield "a label outside a table"
    for run in loose_runs(bare):
        if len(run) > MOST_LOOSE:
            yield f"{len(run)} loose lines, from “{run[0][:50]}” on"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_every_stored_card_reads_well_without_styles(path):
    wrong = [(number, trouble) for number, html in html_of(path) for trouble in troubles(html)]
    assert wrong == []


@pytest.mark.parametrize("path", PATHS[:7], ids=lambda path: path.stem)
def test_no_picture_is_part_of_a_card(path):
    """GitHub shows pictures that are outputs of their own, and drops those that HTML contains."""
    assert [number for number, html in html_of(path) if "data:image" in html] == []


# ---- What must be seen ----


def test_a_good_card_passes():
    table = Table(["kernel", "TFLOPS"], [["a", "1"], ["b", "2"]]).html()
    body = f"<b>{mark(True)} PASS</b>" + facts([("registers", "40"), ("warps", "4")]) + table + folded("more", "x")
    assert list(troubles(card(body, theme.GOOD))) == []


@pytest.mark.parametrize(
    ("html", "said"),
    [
        (card("<b>PASS</b>", theme.GOOD), "a verdict without"),
        (card("".join(remark(f"line {n}") for n in range(9)), theme.NOTE), "9 loose lines"),
        (card("<br>".join("abcdefghi"), theme.NOTE), "9 loose lines"),
        (theme.tag("div", "label", "registers") + "40", "a label outside a table"),
        ("<svg><table><tr><td>1</td></tr></table></svg>", "a table is lost"),
    ],
)
def test_a_card_that_falls_apart_is_seen(html, said):
    assert any(said in trouble for trouble in troubles(html))


def test_what_is_dropped_and_what_stays():
    html = '<div class="a" style="color:red"><script>x()</script><style>b{}</style><table><tr><td align="left">1 &lt; 2</td></tr></table>'
    assert stripped(html + "</div>") == '<div><table><tr><td align="left">1 &lt; 2</td></tr></table></div>'
    assert stripped('<img alt="a" src="data:image/png;base64,AA==">') == ""
    assert loose_runs("<div>a</div><div>b</div><pre>c\nd</pre>e<br>f") == [["a", "b"], ["e", "f"]]
