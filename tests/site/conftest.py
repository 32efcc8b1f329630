"""The built site and its pages in Chromium: the same browser as for the other tests, and the same reason to skip."""

from importlib.util import find_spec

import pytest

from tests.browser.conftest import browser_type_launch_args, pytest_collection_modifyitems  # noqa: F401
from tools.site.__main__ import build
from tools.widget_page import served


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """(the folder of the site, its address)."""
    if not all(map(find_spec, ("sphinx", "myst_nb", "furo"))):
        pytest.skip("the extra `site` is not installed")
    folder = tmp_path_factory.mktemp("web") / "site"
    build(folder)
    with served(folder) as address:
        yield folder, f"{address}/"


@pytest.fixture
def reader(site, browser):
    """A function of (width, scheme) that opens a window; in the end no page may have failed or asked another host."""
    _, address = site
    troubles, contexts = [], []

    def open_window(width=1280, scheme="light"):
        contexts.append(
            browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, base_url=address)
        )
        page = contexts[-1].new_page()
        page.on("console", lambda said: said.type == "error" and troubles.append(said.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request", lambda asked: asked.url.startswith((address, "data:", "blob:")) or troubles.append(asked.url)
        )
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert troubles == []


ALIVE = "() => [...document.querySelectorAll('.lab-widget')].every((box) => box.dataset.alive)"


def unfold(page):
    """Open all folds of a page and wait until all its widgets are drawn."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    for box in page.locator(".lab-widget").all():
        box.scroll_into_view_if_needed()
    page.wait_for_function(ALIVE)
