"""Fixtures for Chromium: a page that draws a widget without Jupyter, and a JupyterLab server."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.widget_page import ARGUMENTS, CHROMIUM, mount, prepared

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "browser-test"


def pytest_collection_modifyitems(items):
    """Skip the tests that need Chromium if it is not installed."""
    for item in items:
        if not CHROMIUM and item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="there is no chromium here; on Debian: apt install chromium"))


@pytest.fixture(scope="session")
def browser_type_launch_args():
    return {"executable_path": CHROMIUM, "args": ARGUMENTS}


@pytest.fixture(scope="session")
def tab(browser):
    """The page of all widgets' tests. Each test loads its document anew, which leaves nothing of the one before."""
    page = browser.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda said: said.type == "error" and page.errors.append(said.text))
    page.mount = lambda name, state: mount(page, name, state)
    yield page
    page.close()


@pytest.fixture
def widget_page(tab):
    """A function of (theme, width, height) that opens a page, in which `page.mount(module, state)` draws a widget."""

    def open_page(theme="light", width=824, height=1500):
        return prepared(tab, theme, width, height)

    tab.mouse.move(0, 0)
    tab.errors.clear()
    yield open_page
    assert tab.errors == []
    tab.unroute_all()
    tab.emulate_media(reduced_motion="null")
    tab.goto("about:blank")


# ---- JupyterLab ----


@pytest.fixture
def server(tmp_path):
    """The URL of a JupyterLab with copies of the notebooks. It and its kernels are ended after the test."""
    for folder in ("notebooks", "images"):
        shutil.copytree(ROOT / folder, tmp_path / "lab" / folder)
    runtime = tmp_path / "runtime"
    shutil.copytree(ROOT / "gemm_lab" / "labextension", tmp_path / "share" / "labextensions" / "gemm_lab")
    environment = {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_PATH": str(tmp_path / "share"),  # this checkout's extension, not the one that was installed
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
