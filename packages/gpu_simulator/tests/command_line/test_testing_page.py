"""TESTING.md: its project is written to a folder, its commands are run, and their output is what the page shows."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from compiling import need_compiler
from sarif_rules import faults

PAGE = Path(__file__).resolve().parents[2] / "TESTING.md"
PYTHON = f'"{sys.executable}"'
PYTEST = f"{PYTHON} -m pytest -p gpu_simulator.pytest_plugin"
TEXT = (
    PAGE.read_text(encoding="utf-8") if PAGE.is_file() else pytest.skip("without TESTING.md", allow_module_level=True)
)
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```", TEXT, re.M | re.S))
# (command, lines that it prints), in the order of the page
COMMANDS = [
    (block[0][2:], block[1:])
    for block in (b.split("\n") for b in re.findall(r"^```\n(\$ .*?)\n```", TEXT, re.M | re.S))
]
MENDED = re.findall(r"^(?:In|and in) `([\w./]+)`(?: write)?\n\n```cuda\n(.*?)^```", TEXT, re.M | re.S)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    need_compiler()
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def shell(command: str, folder: Path) -> subprocess.CompletedProcess:
    """Run a command of the page; the plugin is the one of this checkout, whichever is installed."""
    command = re.sub(r"^pytest", lambda _: PYTEST, re.sub(r"^python ", lambda _: f"{PYTHON} ", command))
    words = {"shell": True, "cwd": folder, "capture_output": True, "text": True, "encoding": "utf-8", "timeout": 120}
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTHONUTF8": "1"}
    return subprocess.run(command, env={**os.environ, **plain}, **words)


def mend(folder: Path) -> None:
    """Replace the first line of each kernel that begins like the mended one, as a reader of the page does."""
    for name, lines in MENDED:
        text, first = (folder / name).read_text(encoding="utf-8"), lines.split("\n")[0]
        start = re.escape(first.partition("[32]")[0] if "[32]" in first else first)
        mended, count = re.subn(rf"^{start}.*\n", lambda _, lines=lines: lines, text, count=1, flags=re.M)
        assert count == 1 and mended != text
        (folder / name).write_text(mended, encoding="utf-8")


def test_the_commands_print_what_the_page_shows(project):
    """The plugin fails on the race and on the conflict, and passes on the mended kernels."""
    assert [command.split()[0] for command, _ in COMMANDS] == ["pytest", "pytest", "python", "pytest"]
    for command, lines in COMMANDS:
        if lines == COMMANDS[-1][1]:
            mend(project)
        done = shell(command, project)
        wrong = any("failed" in line for line in lines)
        assert done.returncode == wrong, done.stdout + done.stderr
        for line in lines:
            pattern = ".*".join(map(re.escape, line.split("…")))
            assert re.search(rf"^{pattern}", done.stdout, re.M), f"not {line!r} but {done.stdout}"


def test_the_steps_of_the_workflow_run(project):
    steps = re.findall(r"^      - run: (.*)$", FILES[".github/workflows/kernels.yml"], re.M)
    frozen = re.search(r"^```\npip freeze > (\S+)\n```$", TEXT, re.M)[1]
    assert steps[0] == f"pip install -r {frozen}" and '\npip install "gpu_simulator[compiler]" pytest\n' in TEXT
    manifest = (PAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r'^name = "gpu_simulator"$', manifest, re.M) and re.search(r"^compiler = \[", manifest, re.M)
    assert 'gpu_simulator = "gpu_simulator.pytest_plugin"' in manifest.partition("[project.entry-points.pytest11]")[2]
    assert steps[1] == "pytest"
    (project / "kernels/reverse.cu").write_text(FILES["kernels/reverse.cu"])
    assert shell(steps[2], project).returncode == 1
    log = json.loads((project / "reverse.sarif").read_text(encoding="utf-8"))
    assert faults(log) == []
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], place["artifactLocation"]["uri"]) == ("race", "kernels/reverse.cu")
    assert place["region"]["startLine"] == 4


def test_the_workflow_follows_its_schema(tmp_path):
    pytest.importorskip("check_jsonschema")
    (tmp_path / "kernels.yml").write_text(FILES[".github/workflows/kernels.yml"])
    words = ["check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(tmp_path / "kernels.yml")]
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
