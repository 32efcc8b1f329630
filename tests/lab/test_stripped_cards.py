"""Every card can be read without any style, as on GitHub: a label and its value in one row, a mark before a verdict."""

import re

import pytest
from plain_page import lines_of_page, problems, stripped

import gemm_lab as lab
from gemm_lab.cards.kernel_card import lit_listing
from gemm_lab.cards.source_code import code, diff_lines
from gemm_lab.notebook.cells import error_page
from gemm_look.card import card, facts, folded
from gemm_results.cards.profile_bars import bars
from gpu_simulator.compiler import CompileError
from gpu_simulator.errors import SimulatorError


def pages(things):
    """(name, HTML) of everything that shows itself as HTML, and the cards of the errors."""
    for thing in things:
        if hasattr(thing, "_repr_html_") and (page := thing._repr_html_()):
            yield type(thing).__name__, page
        if isinstance(thing, SimulatorError):
            yield f"the card of {type(thing).__name__}", error_page(thing)


@pytest.mark.long
def test_every_card_reads_in_lines_without_styles(made):
    found = [(name, problems(page)) for name, page in pages(made)]
    assert len(found) > 25
    assert [(name, wrong) for name, wrong in found if wrong] == []


def test_the_reader_refuses_what_cannot_be_read():
    loose = '<div class="fact"><span>registers</span><br><b>40</b></div>'
    assert problems(loose) == ["“registers” is alone in its line", "“40” is alone in its line"]
    assert problems('<b style="color:green">PASS</b> it is right') == ["“PASS it is right” has no mark"]
    assert problems("<b>A task: solved.</b>") and not problems("<b>✓ A task: solved.</b>")
    assert stripped('<style>b{}</style><b class="x" style="color:red">a</b>') == "<b>a</b>"


def test_a_run_says_each_fact_in_one_row(made):
    page = next(page for name, page in pages(made) if name == "Run")
    lines = lines_of_page(page)
    assert any(line.startswith("✓ PASS t4/03") for line in lines)
    for label in ("size", "registers", "shared memory", "wavefronts", "sectors a request"):
        assert sum(line.startswith(f"{label} | ") for line in lines) == 1, label
    assert "<details" in page and "<th" in page


def test_no_colour_is_the_only_sign(made):
    """The edge of a card may be green or red only if its text has a mark too."""
    verdicts = ("ThreeCounts", "KernelCounts", "FaultOutcome", "Comparison", "Run", "Solved", "the card of WrongAnswer")
    shown = dict(pages(made))
    for name in set(verdicts) - {"Comparison"}:
        assert re.search("[✓✗] ", shown[name]), name
    guess = lab.guess("How many marks?").answer(3)
    assert "✓ You said 3" in guess.compare(3)._repr_html_() and "✗ You said 3" in guess.compare(4)._repr_html_()
    guess.answer(None)


def test_listings_keep_their_lines():
    assert "+int a;\n-int b;\n same" in re.sub("<[^>]*>", "", diff_lines(["+int a;", "-int b;", " same"]))
    listing = re.sub("<[^>]*>", "|", stripped(code("int a;\nint b;")))
    assert "1\n2" in listing and listing.index("1\n2") < listing.index("int")
    lit = stripped(lit_listing([("f.cu", 4, "a"), ("cell", 2, "b < c"), ("f.cu", 6, "d")], "cell"))
    assert lit == "<pre>    4  a\n<mark>▶   2  b &lt; c</mark>\n    6  d</pre>"


def test_the_parts_of_a_bar_are_numbered():
    from gemm_results.cards.profile_bars import Section

    section = Section("times", [("t4/03", {"a": 3, "b": 1})], {"a": "75", "b": "25"})
    lines = lines_of_page(bars(section))
    assert lines == ["times", "t4/03 | 1 2 | 4", "1 | a | 75", "2 | b | 25"]


@pytest.mark.parametrize("pairs", [[], [("a < b", "1")]])
def test_facts_are_escaped_rows(pairs):
    shown = stripped(facts(pairs))
    assert shown == ('<table><tbody><tr><th align="left">a &lt; b</th><td>1</td></tr></tbody></table>' if pairs else "")
    assert "<summary>" in stripped(card(folded("more", shown)))


def test_a_compile_error_marks_its_word():
    with pytest.raises(CompileError) as wrong:
        lab.kernel("simt/01").edit(place="  const int row = 0, col = 0; wrong();").compile()
    page = stripped(error_page(wrong.value))
    assert "<mark>wrong</mark>" in page and "✗" in page
