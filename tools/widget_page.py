"""A page in Chromium that draws a live widget without Jupyter, for tests, benchmarks and screenshots; a file server.

page = prepared(browser.new_page(), "dark", 824, 720)
mount(page, "zoom", state_of(lab.zoom()))
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from gemm_lab.courses import courses
from gemm_lab.notebook.widgets.modules import FOLDER, css, esm

CHROMIUM = os.environ.get("GEMM_LAB_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"]
ADDRESS = "http://widgets.test/"
# The variables of JupyterLab's two themes that the style sheet reads.
THEMES = {
    "light": {"layout-color0": "#ffffff", "ui-font-color0": "rgba(0,0,0,1)", "brand-color1": "#1976d2"},
    "dark": {"layout-color0": "#111111", "ui-font-color0": "rgba(255,255,255,1)", "brand-color1": "#2196f3"},
}
PAGE = """<!doctype html><meta charset="utf-8"><style>{look}</style>
<script type="importmap">{{"imports":{{"gemm_lab/":"/"}}}}</script>
<body style="margin:0;padding:12px;background:var(--jp-layout-color0);{theme}"><div id="here"></div></body>"""
# Draws a widget in the page, with a model that has the interface of anywidget's.
MOUNT = """async ([address, state]) => {
  const listeners = {}, saved = [];
  const model = {
    get: (key) => state[key],
    set: (key, value) => {
      const before = JSON.stringify(state[key]);
      state[key] = value;
      if (JSON.stringify(value) !== before) (listeners["change:" + key] ?? []).forEach((f) => f());
    },
    save_changes: () => saved.push(structuredClone(state)),
    on: (event, f) => (listeners[event] ??= []).push(f),
    off: (event, f) => (listeners[event] = listeners[event].filter((other) => other !== f)),
  };
  const module = await import(address);
  document.getElementById("here").replaceChildren();
  const close = module.default.render({ model, el: document.getElementById("here") });
  window.widget = { state, saved, model, close, heard: () => Object.values(listeners).flat().length };
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def log_message(self, *arguments: object) -> None:
        """Say nothing of each file that the browser asks for."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a file server of this machine that has the folder, without a slash at its end."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def chromium(**look: Any) -> Iterator[Any]:
    """A new page of Chromium. look: as for Playwright's `new_page`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser.new_page(**look)
        browser.close()


def state_of(widget: Any) -> dict:
    """The state of a widget as its view gets it."""
    own = {name for name in widget.traits(sync=True) if not name.startswith("_")}
    return {name: getattr(widget, name) for name in own - {"layout", "tabbable", "tooltip", "comm"}}


def prepared(page: Any, theme: str = "light", width: int = 824, height: int = 1500) -> Any:
    """A Playwright page of this size with an empty body in one of `THEMES`; returns it."""
    page.route(ADDRESS + "**", _serve)
    page.set_viewport_size({"width": width, "height": height})
    page.goto(ADDRESS + theme)
    return page


def mount(page: Any, name: str, state: dict) -> None:
    """Draw the widget of the module `name` with this state, in place of what was there."""
    page.evaluate(MOUNT, [f"./joined/{name}.js", json.loads(json.dumps(state))])


def picture(page: Any, state: dict) -> bytes:
    """A PNG file of the view of a widget whose state, with the text of its module, a front end has been told."""
    module = b64encode(state["_esm"].encode()).decode()
    page.evaluate(MOUNT, [f"data:text/javascript;base64,{module}", {**state, **state["pictured"]}])
    return page.locator(".gemm-lab").screenshot(animations="disabled")


@cache
def _scripts() -> dict[str, Path]:
    """Every JavaScript file of the courses and of the frame, by its name."""
    folders = [FOLDER, *(Path(path) for course in courses() for path in course.__path__)]
    return {path.name: path for folder in folders for path in folder.rglob("*.js")}


def _serve(route: Any) -> None:
    name = route.request.url.removeprefix(ADDRESS)
    file = name.rpartition("/")[2]
    if name.startswith("joined/"):  # the joined module, as a front end loads it
        route.fulfill(body=esm(str(_scripts()[file])), content_type="text/javascript")
    elif name.endswith(".js"):
        route.fulfill(path=_scripts()[file], content_type="text/javascript")
    elif name in THEMES:
        theme = ";".join(f"--jp-{key}:{value}" for key, value in THEMES[name].items())
        route.fulfill(body=PAGE.format(look=css(), theme=theme), content_type="text/html")
    else:
        route.fulfill(status=204)
