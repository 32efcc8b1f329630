"""What a student writes reaches the page of feedback as text: nothing in it runs, and our own cards still show."""

import random
import re

import pytest

pytest.importorskip("nbgrader", reason="needs the extra course")

from bs4 import BeautifulSoup  # noqa: E402
from small_course import (  # noqa: E402
    CHOICE,
    KERNEL,
    NAME,
    answer,  # noqa: E402
)

from gemm_lab.notebook.exercises import exercises  # noqa: E402
from gemm_lab_classroom.feedback_page import TAGS, cleaned  # noqa: E402

MARK = "evil()"  # every attack runs this
MARKDOWN = [
    f"<script>{MARK}</script>",
    f"<SCRIPT SRC='https://a.example/x.js'>{MARK}</SCRIPT>",
    f"<img src=x onerror='{MARK}'>",
    f"<img src='x' OnError = \"{MARK}\">",
    f"<svg onload='{MARK}'><script>{MARK}</script></svg>",
    f"<svg><a xlink:href='javascript:{MARK}'><text>a</text></a></svg>",
    f"<a href='javascript:{MARK}'>a</a>",
    f"[a](javascript:{MARK})",
    f"[a](JaVaScRiPt:{MARK})",
    f"<a href='java\tscript:{MARK}'>a</a>",
    f"<a href='&#106;avascript:{MARK}'>a</a>",
    f"<a href='\x01javascript:{MARK}'>a</a>",
    f"<a href='vbscript:{MARK}'>a</a>",
    f"<a href='data:text/html,<script>{MARK}</script>'>a</a>",
    f"![x](javascript:{MARK})",
    f"<img src='data:image/svg+xml,<svg onload=\"{MARK}\"/>'>",
    f"<iframe src='javascript:{MARK}'></iframe>",
    f"<iframe srcdoc='<script>{MARK}</script>'></iframe>",
    f"<object data='javascript:{MARK}'></object>",
    f"<embed src='javascript:{MARK}'>",
    f"<form action='javascript:{MARK}'><button>a</button></form>",
    f"<button formaction='javascript:{MARK}'>a</button>",
    f"<base href='javascript:{MARK}//'>",
    f"<meta http-equiv=refresh content='0;url=javascript:{MARK}'>",
    "<link rel=stylesheet href='//a.example'>",
    f"<style>@import 'javascript:{MARK}'; body {{ display: none }}</style>",
    f"<div style='background:url(javascript:{MARK})'>a</div>",
    f"<p style='position:fixed;top:0;left:0;width:100%;height:100%' onclick='{MARK}'>a</p>",
    f"<details open ontoggle='{MARK}'>a</details>",
    f"<video><source onerror='{MARK}'></video>",
    f"<math><mtext href='javascript:{MARK}'>a</mtext></math>",
    f"<!--><script>{MARK}</script>-->",
    f"<noscript><p title='</noscript><script>{MARK}</script>'>",
    f"<textarea></textarea><script>{MARK}</script>",
    f"<scr<script>ipt>{MARK}</scr</script>ipt>",
    f"$\\href{{javascript:{MARK}}}{{x}}$",
    f"$$\\hr<!-- -->ef{{javascript:{MARK}}}{{x}}$$",
    f"&#92;(&#92;href{{javascript:{MARK}}}{{x}}&#92;)",
    "$\\require{HTML}\\style{color:red}{x}\\class{a}{x}\\cssId{top}{x}$",
    f"$\\def\\a{{\\href{{javascript:{MARK}}}}}\\a{{x}}$",
    f"$\\hr\\hrefef{{javascript:{MARK}}}{{x}}$",
    f"# head <img src=x onerror={MARK}>",
    f"| a |\n|---|\n| <img src=x onerror={MARK}> |",
    f"```html\n<script>{MARK}</script>\n```",
    f'```mermaid\ngraph TD; a["<img src=x onerror={MARK}>"]\n```',
    f"<div class='panel-heading' id='toc' name='top' onmouseover='{MARK}'>Score: 10 / 10</div>",
    f"<a href='//a.example' target='_blank' ping='//b'>{MARK}</a>",
]
GOOD_MARKDOWN = "# Head\n\nA **bold** word, `code`, [a link](https://example.org/a), ![p](images/roofline.png), $x^2$.\n\n| a |\n|---|\n| 1 |"
SCHEMES = re.compile(r"\s*(?:https?:|mailto:|#|data:image/(?:png|jpeg|gif|webp);base64,|(?![a-z][a-z0-9+.-]*:))", re.I)


def dangers(page):
    """What a browser would run or load in a page, in words; text does not count."""
    found = []
    for tag in BeautifulSoup(page, "html.parser").find_all(True):
        if tag.name in ("script", "style") and (MARK in tag.get_text() or MARK in str(tag.attrs)):
            found.append(f"<{tag.name}>")
        if tag.name in (
            "iframe",
            "object",
            "embed",
            "form",
            "base",
            "svg",
            "math",
            "video",
            "audio",
            "button",
            "textarea",
            "input",
        ):
            found.append(f"<{tag.name}>")
        if tag.name in ("meta", "link") and MARK in str(tag.attrs):
            found.append(str(tag))
        for name, value in tag.attrs.items():
            text = re.sub(r"[\x00-\x20]", "", " ".join(value) if isinstance(value, list) else str(value))
            if name.startswith("on") or (
                name in ("href", "src", "xlink:href", "action", "data") and not SCHEMES.match(text)
            ):
                found.append(f"{tag.name} {name}={text[:40]}")
            if name == "style" and ("url(" in text or "position" in text):
                found.append(f"{tag.name} style={text[:40]}")
    return found


def bare(page):
    """The page without nbconvert's own scripts and styles of its head."""
    body = BeautifulSoup(page, "html.parser").body
    return str(body)


@pytest.mark.long
def test_markdown_of_a_student_does_nothing_and_the_cards_show(classroom):
    book = classroom.solved()
    for number, text in enumerate([*MARKDOWN, GOOD_MARKDOWN]):
        book["cells"].insert(0, {"cell_type": "markdown", "id": f"m{number}", "metadata": {}, "source": text})
    answer(book, KERNEL)["source"] += f"\n// </pre><script>{MARK}</script>"
    classroom.hand_in("markdown", book)
    classroom.grade("markdown")
    page = classroom.page("markdown")
    assert dangers(bare(page)) == [] and not re.search(r"<script[^>]*>[^<]*evil", page)
    soup = BeautifulSoup(page, "html.parser")
    for text in soup.find_all(string=re.compile(r"\\(?:href|style|class|cssId|require|def)\b")):
        raise AssertionError(text[:80])
    cards = [tag for tag in soup.find_all("div") if "border-left" in tag.get("style", "")]
    assert len(cards) == 2 and "Judged with seed 1" in cards[0].get_text() and f"<script>{MARK}" in cards[0].get_text()
    assert (
        soup.find("strong", string="bold")
        and soup.find("a", href="https://example.org/a")
        and soup.find("td", string="1")
    )
    assert soup.find("img", src=re.compile("roofline.png$")) and "$x^2$" in soup.get_text()


@pytest.mark.parametrize("text", MARKDOWN)
def test_a_cleaned_piece_holds_no_danger(text):
    page = cleaned(text, styles=True)
    assert dangers(page) == [] and {tag.name for tag in BeautifulSoup(page, "html.parser").find_all(True)} <= TAGS


@pytest.mark.parametrize("number", range(150))
def test_pieces_of_html_in_any_order_hold_no_danger(number):
    random_ = random.Random(f"html {number}")
    pieces = [
        "<",
        ">",
        "</",
        "/>",
        "<script",
        "<img",
        "<a",
        "<svg",
        "<style",
        "<p",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        " href=",
        " src=",
        " onerror=",
        " style=",
        " class=",
        "javascript:",
        "data:text/html,",
        "data:image/png;base64,",
        "url(",
        ")",
        "'",
        '"',
        "`",
        "evil()",
        "&#106;",
        "&lt;",
        "&#92;href",
        "\\href",
        "{",
        "}",
        "$",
        "\n",
        "\t",
        "\0",
        "x",
        "<math>",
        "<mtext>",
        "<table>",
        "<mglyph>",
        "<noscript>",
        "<title>",
        "é",
    ]
    text = "".join(random_.choices(pieces, k=random_.randint(1, 30)))
    page = cleaned(text, styles=random_.random() < 0.5)
    assert dangers(page) == [] and cleaned(page) is not None
    assert {tag.name for tag in BeautifulSoup(page, "html.parser").find_all(True)} <= TAGS
    assert not re.search(r"\\href(?![a-zA-Z])", BeautifulSoup(page, "html.parser").get_text())


def test_the_index_names_the_exercises_and_kernels_have_the_colours_of_their_language(classroom):
    book = classroom.solved()
    answer(book, KERNEL)["source"] += "\nfor (int k = 0; k < BLOCK_K; k++) acc += 0.5f;  // RIGHT"
    forged = f'<ul><li><a href="#check_{KERNEL}">Test cell</a></li></ul>\n\n%%kernel int x;'
    book["cells"].insert(0, {"cell_type": "markdown", "id": "forged", "metadata": {}, "source": forged})
    classroom.hand_in("named", book)
    classroom.grade("named")
    soup = BeautifulSoup(classroom.page("named"), "html.parser")
    index = [link.get_text() for link in soup.find(id="toc").find_all("a")]
    assert index == [exercises()[name].title for name in (KERNEL, CHOICE)]
    assert soup.find("a", rel="nofollow").get_text() == "Test cell", "a student's own link stays"
    kernel = next(area for area in soup.find_all(class_="input_area") if "%%kernel" in area.get_text())
    words = {word.get_text(): word["class"] for word in kernel.find_all("span") if word.get("class")}
    assert words["int"] == ["kt"] and words["0.5f"] == ["mf"] and words["// RIGHT"] == ["c1"]
    choice = next(area for area in soup.find_all(class_="input_area") if "choice" in area.get_text())
    assert choice.find("span", class_="nb").get_text() == "dict"


def test_what_was_not_judged_shows_no_score_unless_a_person_gives_one_and_the_log_says_why(classroom):
    book = classroom.solved()
    answer(book, KERNEL)["source"] = "%%kernel\nILL"
    forged = f'<a name="check_{KERNEL}">Score: 0.0 / 10.0</a>'
    book["cells"].insert(0, {"cell_type": "markdown", "id": "forged", "metadata": {}, "source": forged})
    classroom.hand_in("unlucky", book)
    said = classroom.must(classroom.api.autograde(NAME, "unlucky"))["log"]
    assert f"check_{KERNEL} of student unlucky has no score. Not judged: Read: ILL" in said
    assert f"nbgrader autograde {NAME} --force --student unlucky" in said

    def shown():
        classroom.must(classroom.api.generate_feedback(NAME, "unlucky", force=True))
        soup = BeautifulSoup(classroom.page("unlucky"), "html.parser")
        heading = soup.find("a", attrs={"name": f"check_{KERNEL}"}).find_next(class_="pull-right")
        assert "Score: 0.0 / 10.0" in soup.find(class_="rendered_html").get_text()
        return soup.find(id="toc").find("li").get_text(), heading.get_text().split("(")[0].strip()

    title = exercises()[KERNEL].title
    assert shown() == (f"{title} (not judged automatically)", "not judged automatically")
    with classroom.book() as grades:
        grades.find_grade(f"check_{KERNEL}", NAME, NAME, "unlucky").manual_score = 7
        grades.db.commit()
    assert shown() == (f"{title} (Score: 7.0 / 10.0)", "Score: 7.0 / 10.0")


def test_the_page_has_the_task_the_hint_and_the_command_that_repeats_the_verdict(classroom):
    book = classroom.solved()
    answer(book, CHOICE)["source"] = "choice = dict(warps_m=1, warps_n=8)"
    classroom.hand_in("half", book)
    classroom.grade("half")
    page = BeautifulSoup(classroom.page("half"), "html.parser").get_text()
    for name, hint in ((KERNEL, False), (CHOICE, True)):
        task = exercises()[name]
        assert f"Task: {task.task}" in page and (f"Hint: {task.hint}" in page) == hint
        assert f"python -m gemm_lab_classroom.grading {name} FILE --seed 1" in page


def test_sentences_of_a_verdict_are_broken_into_lines_and_columns_of_a_table_stand_apart(classroom):
    classroom.hand_in("plain", classroom.released())
    classroom.grade("plain")
    head = classroom.page("plain").partition("</head>")[0]
    assert ".output_subarea pre {white-space: pre-wrap" in head and ":is(td, th) {padding" in head
