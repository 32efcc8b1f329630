"""Fixtures for Chromium: a page that draws a widget without Jupyter, and a JupyterLab server."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gemm_lab.notebook.widgets.modules import esm

ROOT = Path(__file__).resolve().parents[2]
WIDGETS = ROOT / "gemm_lab" / "notebook" / "widgets"
TOKEN = "browser-test"
CHROMIUM = os.environ.get("GEMM_LAB_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ADDRESS = "http://widgets.test/"
# The variables of JupyterLab's two themes that the style sheet reads.
THEMES = {
    "light": {"layout-color0": "#ffffff", "ui-font-color0": "rgba(0,0,0,1)", "brand-color1": "#1976d2"},
    "dark": {"layout-color0": "#111111", "ui-font-color0": "rgba(255,255,255,1)", "brand-color1": "#2196f3"},
}
PAGE = """<!doctype html><meta charset="utf-8"><style>{look}</style>
<body style="margin:0;padding:12px;background:var(--jp-layout-color0);{theme}"><div id="here"></div></body>"""
# Draws a widget in the page, with a model that has the interface of anywidget's.
MOUNT = """async ([name, state]) => {
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
  const module = await import("./joined/" + name + ".js");
  document.getElementById("here").replaceChildren();
  const close = module.default.render({ model, el: document.getElementById("here") });
  window.widget = { state, saved, model, close, heard: () => Object.values(listeners).flat().length };
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def pytest_collection_modifyitems(items):
    """Skip the tests that need Chromium if it is not installed."""
    for item in items:
        if not CHROMIUM and item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="there is no chromium here; on Debian: apt install chromium"))


@pytest.fixture(scope="session")
def browser_type_launch_args():
    return {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--disable-dev-shm-usage"]}


@pytest.fixture
def widget_page(page):
    """A function of (theme, width, height) that opens a page, in which `page.mount(module, state)` draws a widget."""
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))

    def serve(route):
        name = route.request.url.removeprefix(ADDRESS)
        if name.startswith("joined/"):  # the joined module, as a front end loads it
            route.fulfill(body=esm(name.removeprefix("joined/").removesuffix(".js")), content_type="text/javascript")
        elif name.endswith(".js"):
            route.fulfill(path=WIDGETS / name, content_type="text/javascript")
        elif name in THEMES:
            theme = ";".join(f"--jp-{key}:{value}" for key, value in THEMES[name].items())
            look = (WIDGETS / "look.css").read_text()
            route.fulfill(body=PAGE.format(look=look, theme=theme), content_type="text/html")
        else:
            route.fulfill(status=204)

    def open_page(theme="light", width=824, height=1500):
        page.route(ADDRESS + "**", serve)
        page.set_viewport_size({"width": width, "height": height})
        page.goto(ADDRESS + theme)
        page.mount = lambda name, state: page.evaluate(MOUNT, [name, json.loads(json.dumps(state))])
        page.errors = errors
        return page

    yield open_page
    assert errors == []


# ---- JupyterLab ----


@pytest.fixture
def server(tmp_path):
    """The URL of a JupyterLab with copies of the notebooks. It and its kernels are ended after the test."""
    for folder in ("notebooks", "images"):
        shutil.copytree(ROOT / folder, tmp_path / "lab" / folder)
    runtime = tmp_path / "runtime"
    quiet = tmp_path / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    environment = {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"),
        "PYTHONPATH": str(ROOT),
    }
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--port=0",
        f"--IdentityProvider.token={TOKEN}",
        f"--ServerApp.root_dir={tmp_path / 'lab'}",
        "--ServerApp.terminals_enabled=False",
        "--LabApp.expose_app_in_browser=True",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    log = (tmp_path / "server.log").open("w")
    process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield address(process, runtime, tmp_path / "server.log")
    finally:
        process.terminate()  # the server ends its kernels when it ends
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)
        log.close()


def address(process, runtime: Path, log: Path, limit_s: float = 100.0) -> str:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        for file in runtime.glob("jpserver-*.json"):
            try:
                return json.loads(file.read_text())["url"]
            except ValueError:  # the file is not complete yet
                pass
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
