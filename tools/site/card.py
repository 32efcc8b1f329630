"""`python -m tools.site.card build/site` draws the picture that others show of the site: its live page, after a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.site.pages import HERE
from tools.widget_page import chromium, served

SIZE = {"width": 1200, "height": 630}  # what most places that show a link ask for
WAIT_MS = 120_000


def draw(site: Path, into: Path) -> None:
    """Run the first kernel of a finished site in Chromium, and write the picture of its page into a file."""
    with served(site) as address, chromium(viewport=SIZE, color_scheme="light") as page:
        page.set_default_timeout(WAIT_MS)
        page.goto(f"{address}/live/index.html")
        page.click("#launching summary >> nth=0")
        page.click("#run:not([disabled])")
        page.wait_for_selector("#result .good")
        page.screenshot(path=into)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.site.card", description="Draw the picture of the site.")
    parser.add_argument("site", type=Path)
    draw(parser.parse_args().site, HERE / "static" / "share_card.png")
