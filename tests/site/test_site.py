"""The web book: links, what is left out, widgets with their state; and a walk through all pages in Chromium."""

import json
from base64 import b64encode
from pathlib import Path
from urllib.parse import urljoin

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from gemm_lab import catalog
from gemm_lab.notebook.widgets.asleep import ASLEEP
from gemm_results.errors import LabError
from tests.site.conftest import unfold
from tools.colab import open_book
from tools.site import built, pages, recorded
from tools.site.__main__ import build
from tools.site.links import Links, anchor, anchors, markdown_of
from tools.site.widgets import live_widgets, needed, shown_values

ROOT = Path(__file__).resolve().parents[2]
FIRST, SECOND = "notebooks/00_first.ipynb", "notebooks/01_second.ipynb"
PIXEL = b64encode(b"a picture").decode()


def asleep(what: str):
    words = f'<div>{what}<div class="{ASLEEP}" style="opacity:0.7">Run <i>this</i> cell.</div></div>'
    return new_output("display_data", {"text/plain": what, "text/html": words})


def picture(text: str):
    return new_output("display_data", {"image/png": PIXEL, "text/plain": text})


def write(root: Path, page: str, *cells):
    """Write a notebook with a title, the two cells for machines without the lab, and these cells."""
    book = new_notebook(cells=[new_markdown_cell("# 00 · A title\n\n## A part"), *cells])
    assert open_book(book, Path(page).stem, "https://github.com/octocat/gemm_lab")
    (root / page).parent.mkdir(exist_ok=True)
    nbformat.write(book, root / page)


@pytest.fixture
def root(tmp_path):
    """A folder with the files of a small series."""
    root = tmp_path / "repository"
    for name in ("README.md", "LICENSE", *pages.BESIDE, *pages.LATER):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# {Path(name).stem.title()}\n\n## A term\n")
    (root / "pyproject.toml").write_text("[project.optional-dependencies]\n")
    (root / "images").mkdir()
    (root / "images/one.png").write_bytes(b"a picture")
    write(root, FIRST)
    write(root, SECOND)
    return root


@pytest.fixture
def links(root):
    return Links(root, pages.sources(root), pages.FILES)


# ---- Links ----


@pytest.mark.parametrize(
    ("page", "text", "there"),
    [
        (FIRST, "see [that](01_second.ipynb#a-part)", "see [that](01_second.ipynb#a-part)"),
        (FIRST, "[term](../docs/GLOSSARY.md#a-term)", "[term](../docs/GLOSSARY.md#a-term)"),
        (FIRST, "[start](../README.md)", "[start](../index.md)"),
        (FIRST, '<a href="../docs/GLOSSARY.md#a-term">x</a>', '<a href="../docs/GLOSSARY.html#a-term">x</a>'),
        (FIRST, '<img src="../images/one.png" width="9">', '<img src="../_static/images/one.png" width="9">'),
        ("README.md", '<img src="images/one.png">', '<img src="_static/images/one.png">'),
        ("README.md", "[first](notebooks/00_first.ipynb) [MIT](LICENSE)", None),
        ("docs/ERRATA.md", "[texts](REFERENCES.md#a-term)", "[texts](REFERENCES.md#a-term)"),
        (
            FIRST,
            "[here](#a-part) [there](https://example.org/a_(b))",
            "[here](#a-part) [there](https://example.org/a_(b))",
        ),
        (
            FIRST,
            "`[code](nowhere.md)`\n```\n[code](nowhere.md)\n```",
            "`[code](nowhere.md)`\n```\n[code](nowhere.md)\n```",
        ),
    ],
)
def test_a_link_leads_to_a_page_of_the_site(links, page, text, there):
    expected = there or "[first](notebooks/00_first.ipynb) [MIT](_static/LICENSE.txt)"
    assert links.in_markdown(page, text) == expected


def test_every_link_of_the_project_leads_somewhere():
    links = Links(ROOT, pages.sources(ROOT), pages.FILES)
    for page in links.pages:
        links.in_markdown(page, markdown_of(ROOT / page))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a](02_third.ipynb)", "“02_third.ipynb” leads to notebooks/02_third.ipynb, which is not on the site"),
        ("[a](../docs/GLOSSARY.md#no-term)", "leads to a heading that docs/GLOSSARY.md does not have"),
        ("[a](#nothing)", "leads to a heading that notebooks/00_first.ipynb does not have"),
        ('<img src="../images/two.png">', "leads to images/two.png, which is not on the site"),
        ("[a](../kernels)", "leads to kernels, which is not on the site"),
    ],
)
def test_a_link_that_leads_nowhere_is_refused(links, text, said):
    with pytest.raises(LabError, match="notebooks/00_first.ipynb: the link “") as refused:
        links.in_markdown(FIRST, text)
    assert said in str(refused.value)


def test_anchors_are_those_of_a_markdown_viewer():
    assert anchor("The `mma` of [an SM](x.md): 3 × 4") == "the-mma-of-an-sm-3--4"
    assert anchors("# A\n\n## A\n```\n# no heading\n```\n") == {"a", "a-1"}


# ---- Notebooks ----


def prepared(root: Path, address: str = ""):
    """(the first notebook as Sphinx reads it, what was counted, the folder of the sources)."""
    into = root.parent / "sources"
    counts = pages.prepare(root, into, address)
    return nbformat.read(into / FIRST, as_version=4), counts, into


def test_the_badge_and_the_installation_are_left_out(root):
    book, counts, into = prepared(root)
    assert [cell.source.splitlines()[0] for cell in book.cells] == ["# 00 · A title"]
    for path in into.rglob("*"):
        assert path.is_dir() or built.PLACEHOLDER.encode() not in path.read_bytes(), path
    assert counts.pages == len(pages.sources(root)) + 1 == 14


def test_only_with_an_address_a_page_links_to_other_places(root):
    book, _, into = prepared(root, "someone/gemm_lab")
    links = book.cells[1].source
    assert "https://colab.research.google.com/github/someone/gemm_lab/blob/main/notebooks/00_first.ipynb" in links
    assert "kaggle" in links and "mybinder" in links and "codespaces.new/someone/gemm_lab" in links
    (root / "pyproject.toml").write_text('Repository = "https://github.com/another/gemm_lab"\n')  # tools.publish
    pages.prepare(root, into.with_name("published"))
    assert "github/another/gemm_lab" in (into.with_name("published") / FIRST).read_text()
    with pytest.raises(LabError, match="OWNER/REPO"):
        pages.prepare(root, into.with_name("other"), "someone")


def test_kernels_lead_to_the_live_page_where_the_site_has_one(root):
    cells = [
        new_code_cell('swizzle = lab.exercise("06_swizzle")\nswizzle'),
        new_code_cell("%%kernel t4/02_vectorized_copy --region layout --as mine --exercise\n..."),
        new_code_cell("%%kernel t4/03_swizzled --region layout --as other\n..."),
        new_code_cell("other.run()"),
    ]
    write(root, FIRST, *cells)
    book, _, _ = prepared(root)
    assert not any("live" in cell.source for cell in book.cells)
    into = root.parent / "with live"
    pages.prepare(root, into, live=True)
    book = nbformat.read(into / FIRST, as_version=4)
    links = [cell.source for cell in book.cells if "lab-try" in cell.source]
    region = catalog.kernel("t4/03_swizzled").regions["layout"].first_line
    assert [link.split('"')[3] for link in links] == [
        "../lite/lab/index.html?path=notebooks/00_first.ipynb",
        "../live/index.html#kernel=exercise/06_swizzle",
        f"../live/index.html#kernel=t4/03_swizzled&line={region}",
    ]
    start = (into / "index.md").read_text()
    assert start.startswith("# Readme\n") and "lite/lab/index.html?path=notebooks/00_start_here.ipynb" in start
    assert "lite/" not in (into.with_name("sources") / "index.md").read_text()


def test_folded_code_stays_folded(root):
    folded = {"jupyter": {"source_hidden": True}, "tags": ["reveal"]}
    write(root, FIRST, new_code_cell("guess.compare(4)", metadata=folded), new_code_cell("guess"))
    book, _, _ = prepared(root)
    assert [cell.metadata.get("tags", []) for cell in book.cells[1:]] == [["reveal", pages.HIDDEN], []]


def test_words_about_running_a_cell_are_left_out_and_outputs_keep_their_links(root):
    box = new_output("display_data", {"text/html": f"<kbd>your answer</kbd> {pages.RUN_TO_ANSWER}"})
    link = new_output("display_data", {"text/html": '<a href="01_second.ipynb">next</a><details>answer</details>'})
    write(root, FIRST, new_code_cell("guess", outputs=[asleep("Predict. How many?"), box, link]))
    book, _, _ = prepared(root)
    question, still, linked = (output.data["text/html"] for output in book.cells[1].outputs)
    assert question == "<div>Predict. How many?</div>"
    assert pages.ANSWER_IN_JUPYTER in still and pages.RUN_TO_ANSWER not in still
    assert linked == '<a href="01_second.html">next</a><details>answer</details>'


def test_the_sentence_of_a_stored_answer_box_is_the_one_that_is_replaced():
    import gemm_lab as lab

    assert pages.RUN_TO_ANSWER in lab.guess("How many?")._repr_html_()


# ---- Widgets ----

SWIZZLE = "import gemm_lab as lab\nlab.swizzle(rows=4, row_bytes=16, element='f32', banks=4, access='column load')"


def test_a_widget_has_its_state_in_the_page_and_keeps_its_picture(root):
    write(root, FIRST, new_code_cell(SWIZZLE, outputs=[asleep("Swizzle explorer"), picture("4 rows < 5")]))
    book, counts, into = prepared(root)
    (output,) = book.cells[1].outputs
    html = output.data["text/html"]
    assert html.startswith('<div class="lab-widget" data-module="swizzle_explorer">')
    state = json.loads(html.partition('json">')[2].partition("</script>")[0])
    assert state["rows"] == 4 and "_esm" not in state
    assert 'src="../_static/widgets/00_first-3.png" alt="4 rows &lt; 5"' in html
    assert (into / "_static/widgets/00_first-3.png").read_bytes() == b"a picture"
    assert "render" in (into / "_static/widgets/swizzle_explorer.js").read_text()
    assert (counts.live, counts.still) == (1, [])


def test_a_result_that_shows_itself_as_a_widget_lives_too(root):
    shown = 'import gemm_lab as lab\nlab.kernel("ampere/04_swizzled").predicted_timeline(n=512, cycles=50)'
    write(root, FIRST, new_code_cell(shown, outputs=[asleep("Predicted timeline"), picture("Predicted")]))
    book, counts, into = prepared(root)
    assert 'data-module="predicted_timeline"' in book.cells[1].outputs[0].data["text/html"]
    assert "render" in (into / "_static/widgets/predicted_timeline.js").read_text()
    assert (counts.live, counts.still) == (1, [])


def test_a_widget_that_needs_python_stays_a_picture(root):
    order = "from gemm_lab.notebook import widgets\nwidgets.block_order(1024, 1024, 1024)"
    write(root, FIRST, new_code_cell(order, outputs=[asleep("Block order"), picture("Order: row by row")]))
    book, counts, _ = prepared(root)
    (output,) = book.cells[1].outputs
    assert pages.STILL in output.data["text/html"] and "script" not in output.data["text/html"]
    assert (counts.live, counts.still) == (0, ["00_first-3"])


def test_only_the_cells_that_a_widget_needs_are_evaluated():
    cells = [
        "import math\n%load_ext gemm_lab",
        "1 / 0",
        "a = 2",
        "%%kernel t4/01\nint x;",
        "a = math.floor(a + 1.5)",
        "a",
    ]
    assert needed(cells[:-1], "a") == [cells[0], cells[2], cells[4]]
    assert shown_values(cells, "a") == [3]
    assert shown_values([*cells, "display(a)\ndisplay(a + 1)"], "display(a)\ndisplay(a + 1)") == [3, 4]


def test_a_widget_that_cannot_be_made_here_stays_a_picture():
    failing = "import gemm_lab as lab\nlab.kernel('no/such_kernel')"
    book = new_notebook(cells=[new_code_cell(failing, outputs=[asleep("Zoom"), picture("Zoom")])])
    assert live_widgets(book) == {0: [None]}


# ---- The first page ----


def test_the_first_page_begins_with_the_editor_and_what_the_series_has():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = pages.first_page(readme, live=True)
    order = ["How does a matrix", "live/index.html?embed", "What you will be able to do", "The notebooks, in order"]
    order += ["## Results", "images/scoreboard.png", "## Start", "make lab", "## How it is tested"]
    places = [text.index(words) for words in order]
    assert places == sorted(places) and sorted(text.split()) != sorted(readme.split())
    without = pages.first_page(readme, live=False)
    assert "live/index.html" not in without and sorted(without.split()) == sorted(readme.split()), "nothing is lost"
    assert pages.first_page("# A title\n\n## A term\n", live=False).split() == ["#", "A", "title", "##", "A", "term"]


def test_the_figures_of_the_site_are_those_that_were_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "FILE", tmp_path / "sizes.json")
    counts = pages.Counts(7, loads={"simulator": 12_100_000, "compiler": 22_800_000})
    recorded.write(counts, {"book": 10.96, "live": 96.0, "lite": 52.2})
    found = {what: recorded.number(what) for what in ("pages", "book MB", "whole MB", "simulator MB", "compiler MB")}
    assert list(found.values()) == ["7", "11", "159", "12", "23"]
    with pytest.raises(LabError, match="pages, book MB.*not “colour”"):
        recorded.number("colour")
    with pytest.raises(LabError, match="a whole site"):
        recorded.write(counts, {"book": 10.96})


def test_the_sizes_of_all_parts_are_counted(tmp_path):
    for name, size in (("index.html", 1), ("live/clang/llvm.wasm", 3), ("lite/a", 2)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(size * built.MEGABYTE))
    assert built.megabytes(tmp_path) == {"book": 1, "live": 3, "lite": 2}


def test_the_sidebar_leads_to_what_runs_in_the_browser():
    pytest.importorskip("docutils", reason="the extra `site` is not installed")
    conf = pytest.importorskip("tools.site.conf")
    links = conf._in_browser(lambda place, resource: f"../{place}")
    assert 'href="../live/index.html">Run a kernel here' in links and links.count("<li") == 2
    assert 'href="../lite/lab/index.html?path=notebooks/00_start_here.ipynb"' in links


@pytest.mark.browser
@pytest.mark.parametrize(("width", "app"), [(360, "notebooks"), (1280, "lab")])
def test_on_a_narrow_window_a_notebook_opens_alone(browser, width, app):
    with browser.new_page(viewport={"width": width, "height": 700}) as page:
        page.set_content('<a href="../lite/lab/index.html?path=notebooks/a.ipynb">x</a><a href="lab/index.html">y</a>')
        page.add_script_tag(path=pages.HERE / "static" / "narrow.js", type="module")
        found = page.evaluate("Array.from(document.querySelectorAll('a'), (link) => link.getAttribute('href'))")
        assert found == [f"../lite/{app}/index.html?path=notebooks/a.ipynb", "lab/index.html"]


# ---- The finished site ----


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js from another host"),
        ('<img src="//example/x.png">', "from another host"),
        ('<a href="other.html">x</a>', "other.html leads nowhere"),
        ('<a href="#no">x</a>', "#no leads nowhere"),
        ('<a href="/no.html">x</a>', "/no.html leads nowhere"),
        (f"<p>{built.PLACEHOLDER}</p>", "placeholder"),
    ],
)
def test_what_is_wrong_with_a_page_is_seen(tmp_path, html, said):
    (tmp_path / "index.html").write_text(html)
    (trouble,) = built.troubles(tmp_path)
    assert said in trouble and trouble.startswith("index.html")


def test_a_page_in_order_passes(tmp_path):
    (tmp_path / "index.html").write_text(
        '<a href="https://a.example"></a><a href="#x"></a><a href="b.html#y"></a><p id="x">'
    )
    (tmp_path / "b.html").write_text('<p id="y"><link rel="stylesheet" href="c.css">')
    (tmp_path / "c.css").write_text("p { color: red }")
    built.check(tmp_path)
    (tmp_path / "c.css").write_text("@import url(https://fonts.example/a.css)")
    with pytest.raises(LabError, match=r"c\.css loads https://fonts\.example/a\.css from another host"):
        built.check(tmp_path)


def test_a_folder_of_something_else_is_kept(tmp_path):
    pytest.importorskip("sphinx", reason="the extra `site` is not installed")
    (tmp_path / "work.txt").touch()
    with pytest.raises(LabError, match="holds something else than a site"):
        build(tmp_path)
    assert (tmp_path / "work.txt").exists()


def test_a_site_stays_until_the_new_one_is_in_order(tmp_path):
    pytest.importorskip("sphinx", reason="the extra `site` is not installed")
    for name in ("objects.inv", "index.html"):
        (tmp_path / "site" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "site" / name).touch()
    with pytest.raises(LabError, match="OWNER/REPO"):
        build(tmp_path / "site", address="somewhere")
    assert (tmp_path / "site" / "index.html").exists()


# ---- The whole book in Chromium ----


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_page_fits_and_its_widgets_live(site, reader, width, scheme):
    folder, _ = site
    page = reader(width, scheme)
    alive = 0
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder).as_posix()
        page.goto(name)
        assert page.locator("article details[open]:not(.lab-widget details)").count() == 0, name
        unfold(page)
        alive += page.locator(".lab-widget .gemm-lab").count()
        assert page.locator(".lab-widget > img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light"), name
    assert alive >= 15


@pytest.mark.browser
@pytest.mark.long
def test_each_page_has_a_description_and_a_lost_reader_finds_the_first_one(site, reader):
    folder, _ = site
    page, found = reader(), {}
    for path in sorted(folder.glob("notebooks/*.html")):
        page.goto(path.relative_to(folder).as_posix())
        found[path.name] = page.get_attribute("meta[name=description]", "content")
        assert page.get_attribute("meta[property='og:title']", "content") in page.title()
    assert all(40 < len(words) <= 160 for words in found.values()) and len({*found.values()}) == len(found)
    page.goto("404.html")
    page.click("text=The first page")
    assert page.title().startswith("gemm_lab: ") and page.locator("h1").inner_text().startswith("gemm_lab")
    page.emulate_media(media="print")
    assert page.locator(".skip-to-content").is_hidden()


@pytest.mark.browser
@pytest.mark.long
def test_a_widget_answers_and_follows_the_theme(reader):
    page = reader()
    page.goto("notebooks/05_padding_and_swizzling.html")
    widget = page.locator(".lab-widget").first
    widget.scroll_into_view_if_needed()
    widget.get_by_text("wavefront 1 of 4 is next").wait_for()
    widget.locator("button", has_text="›").click()
    widget.get_by_text("wavefront 2 of 4 is next").wait_for()
    assert widget.locator(".gemm-lab.gl-dark").count() == 0
    page.evaluate("document.body.dataset.theme = 'dark'")
    widget.locator(".gemm-lab.gl-dark").wait_for()


@pytest.mark.browser
@pytest.mark.long
def test_pages_follow_each_other_and_the_search_finds_words(reader):
    page = reader()
    page.goto("index.html")
    seen = []
    while (following := page.locator("a.next-page")).count():
        page.goto(urljoin(page.url, following.get_attribute("href")))  # a click does not wait for the page
        seen.append(page.url.rpartition("/")[2].partition("_")[0])
    assert seen[:19] == [
        "00",
        "01",
        "02a",
        "02b",
        "03",
        "04",
        "05",
        "06a",
        "06b",
        "07",
        "08",
        "09",
        "10",
        "10b",
        "10c",
        "11",
        "11b",
        "12",
        "13",
    ]
    assert len(seen) == len(pages.sources(ROOT)), "all but the first, and that of the simulator's modules"
    page.goto("search.html?q=swizzle")
    page.locator("ul.search li", has_text="Padding and swizzling").first.wait_for()
