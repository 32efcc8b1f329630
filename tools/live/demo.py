"""The animated picture of the live page in README.md: a kernel runs, loses its XOR, and runs again.

    python -m tools.live.demo build/site/live images/live_page.gif

The first folder is what `python -m tools.live` has written. Everything is done by a browser as a reader would do it;
only the waiting is shortened. The words under the page belong to the picture and not to the page.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

from PIL import Image

from gemm_results.errors import LabError
from tools.widget_page import ARGUMENTS, CHROMIUM, served

WIDTH, HEIGHT = 880, 660
COLOURS = 64
WAIT_MS = 120_000
XOR, WITHOUT = "(chunk ^ row % 8)", "chunk"
KERNEL, CHANGED, READ = "t4/03_swizzled", (16, 17), 71  # the lines that change, and one between the slow reads
# The words under the page, and the blue frame around what is pressed.
DRESS = """() => {
  document.querySelector("header").remove();
  const words = Object.assign(document.createElement("div"), { id: "words" });
  Object.assign(words.style, { position: "fixed", inset: "auto 0 0 0", padding: "9px 16px", background: "#1b1f24",
    color: "#ffffff", font: "600 18px/1.4 system-ui, sans-serif" });
  document.body.append(words);
  document.head.append(Object.assign(document.createElement("style"), { textContent:
    ".pressed { outline: 4px solid #1f6feb; } .small { display: none } * { caret-color: transparent }" }));
}"""


class Film:
    """Pictures of a page, each with the milliseconds for which it is shown."""

    def __init__(self, page: Any) -> None:
        self.page, self.pictures, self.times = page, [], []

    def show(self, milliseconds: int, words: str | None = None) -> None:
        """Take a picture, after the words under the page have been changed if any are given."""
        if words is not None:
            self.page.evaluate("words => (document.getElementById('words').textContent = words)", words)
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.pictures.append(Image.open(io.BytesIO(self.page.screenshot())).convert("RGB"))
        self.times.append(milliseconds)

    def run(self, words: str) -> dict:
        """Press Run, and return what the page answers."""
        self.page.evaluate("document.getElementById('run').classList.add('pressed')")
        self.show(700, words)
        self.page.evaluate("window.lastAnswer = null")
        self.page.click("#run")
        self.page.wait_for_timeout(300)
        self.show(500)
        self.page.wait_for_function("window.lastAnswer")
        self.page.evaluate("document.getElementById('run').classList.remove('pressed')")
        return self.page.evaluate("window.lastAnswer")

    def save(self, path: Path) -> None:
        """Write an animated GIF that begins again at its end. All pictures have one palette."""
        strip = Image.new("RGB", (WIDTH, HEIGHT * len(self.pictures)))
        for number, picture in enumerate(self.pictures):
            strip.paste(picture, (0, number * HEIGHT))
        palette = strip.quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
        frames = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in self.pictures]
        frames[0].save(path, save_all=True, append_images=frames[1:], duration=self.times, loop=0, optimize=False)


def go_to(page: Any, line: int) -> None:
    """Scroll the editor so that a line is in its middle, and its end in sight if it changes."""
    page.evaluate(
        """([line, end]) => { const e = ace.edit('editor');
           e.gotoLine(line, end ? e.session.getLine(line - 1).length : 0);
           e.scrollToLine(line - 1, true, false); e.renderer.scrollCursorIntoView() }""",
        [line, line in CHANGED],
    )


def play(page: Any) -> Film:
    """Run the kernel, take its XOR out, run it again. Raises `LabError` if the wavefronts do not rise."""
    page.wait_for_selector("#run:not([disabled])")
    page.evaluate(DRESS)
    film = Film(page)
    go_to(page, CHANGED[0])
    film.show(1800, "A T4 kernel in the browser. An XOR keeps its shared memory free of bank conflicts.")
    before = film.run("Press Run: a simulator executes the kernel and counts.")
    go_to(page, READ)
    film.show(3000, f"{_total(before):,} wavefronts, the least possible. Each read at its line, in the margin.")
    go_to(page, CHANGED[0])
    film.show(900, "Now take the XOR out …")
    for line in CHANGED:
        go_to(page, line)
        page.evaluate(
            """([line, text]) => { const e = ace.edit('editor'), at = e.session.getLine(line - 1).indexOf(text);
               e.selection.setRange({ start: { row: line - 1, column: at },
                 end: { row: line - 1, column: at + text.length } }) }""",
            [line, XOR],
        )
        film.show(700)
        page.evaluate("([text]) => ace.edit('editor').insert(text)", [WITHOUT])
        film.show(500)
    after = film.run("… and press Run again: the text is compiled here, too.")
    if not before["passed"] or not after["passed"] or _total(after) < 2 * _total(before):
        raise LabError(f"The picture would be wrong: {_total(before)} wavefronts before, {_total(after)} after.")
    go_to(page, READ)
    film.show(4500, f"{_total(after):,} wavefronts: the result is still right, and each read takes 8 times as long.")
    return film


def _total(answer: dict) -> int:
    return sum(line["wavefronts"] for line in answer["lines"])


def main(arguments: list[str]) -> int:
    """Write the picture; exit code 1 and a sentence if something is missing."""
    from playwright.sync_api import sync_playwright

    folder, path = Path(arguments[0]), Path(arguments[1])
    if not CHROMIUM or not (folder / "index.html").is_file():
        print("This needs Chromium, and the folder that `python -m tools.live` writes.", file=sys.stderr)
        return 1
    with served(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.set_default_timeout(WAIT_MS)
        page.goto(f"{address}/index.html#kernel={KERNEL}")
        play(page).save(path)
        browser.close()
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
