"""Every page of the site by the rules of axe-core: no violation that is serious or critical, in light and dark."""

import pytest

from gpu_simulator.errors import SimulatorError
from tests.site.conftest import unfold
from tools.live.packages import AXE, unpacked
from tools.site.cards import COLOURS, DARK, ENOUGH, LIGHT, contrast, legible, style_sheet

RULES = ["wcag2a", "wcag2aa"]
SEVERE = ("serious", "critical")
# A colour that is still changing is not the one that a reader sees.
AT_REST = "* { animation: none !important; transition: none !important }"


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The text of axe-core's script."""
    folder = tmp_path_factory.mktemp("axe")
    try:
        unpacked(AXE, folder, folder / "npm")
    except SimulatorError as error:
        pytest.skip(f"axe-core could not be fetched, so the pages were not checked. {error}")
    return (folder / "axe.min.js").read_text(encoding="utf-8")


def violations(page, axe: str) -> list[str]:
    """What axe-core finds on an open page: the rule, the selector and the reason of each severe violation."""
    page.add_style_tag(content=AT_REST)
    page.evaluate(axe)
    options = {"runOnly": RULES, "resultTypes": ["violations"]}
    found = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [
        f"{one['id']}: {node['target']}: {' '.join(node['failureSummary'].split())}"
        for one in found
        if one["impact"] in SEVERE
        for node in one["nodes"]
    ]


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_has_a_severe_violation(site, reader, axe, width, scheme):
    folder, _ = site
    page = reader(width, scheme)
    found = []
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    for name in names:
        page.goto(name)
        unfold(page)
        found += [f"{name}: {one}" for one in violations(page, axe)]
    assert len(names) >= 26
    assert not found, "\n".join(found)


@pytest.mark.browser
@pytest.mark.long
def test_a_violation_is_reported(browser, axe):
    page = browser.new_page()
    try:
        page.set_content(
            '<!doctype html><html lang="en"><title>x</title><main><p id="pale" style="color:#aaa">pale</p>'
            '<img id="silent" src="data:,"><p id="fine">fine</p></main>'
        )
        found = violations(page, axe)
    finally:
        page.close()
    assert [one.partition(": Fix")[0] for one in found] == ["color-contrast: ['#pale']", "image-alt: ['#silent']"]


@pytest.mark.parametrize("colour", COLOURS)
def test_a_colour_of_a_card_is_legible_on_both_pages(colour):
    for paper, towards in (LIGHT, DARK):
        assert contrast(legible(colour, paper, towards), paper) >= ENOUGH
    assert style_sheet().count(f'[style^="color:{colour}"]') == 2


def test_contrast_is_that_of_wcag():
    assert contrast("#ffffff", "#000000") == contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
