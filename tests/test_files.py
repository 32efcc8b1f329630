"""Rules for the files of the project: small, in small folders, named after what they hold, documented, and clean."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("gemm_lab", "packages", "tools")

MAX_FILES = 22
# Folders with more files at one level, and why that is better than another level.
CROWDED = {
    "packages/gpu_simulator/tests/programs/right": "one program a file",
    "packages/gpu_simulator/tests/programs/wrong": "one program a file",
    "tools/figures": "one picture a file",
}
MAX_LINES = 450
CODE = {".py", ".cu", ".cuh", ".js"}
TEXT = CODE | {".css", ".csv", ".ipynb", ".json", ".md", ".svg", ".toml", ".txt", ".yml", ".yaml", ""}


def project_files() -> list[Path]:
    """What git tracks or would add; outside a git checkout, everything but builds and environments."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        skipped = {"build", "dist", ".venv", "__pycache__"}
        paths = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        names = [str(path) for path in paths if not skipped & set(path.parts)]
    return [ROOT / name for name in sorted(filter(None, names)) if (ROOT / name).is_file()]


FILES = project_files()
TEXT_FILES = [path for path in FILES if path.suffix in TEXT]


def lines_with(pattern: re.Pattern, files=TEXT_FILES) -> list[str]:
    """`file:line` of every match, in files that are text."""
    hits = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        hits += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
            for number, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    return hits


def files_of_folders(files: list[Path]) -> Counter:
    """How many files lie at one level of each folder of the packages, the kernels and the tests."""
    folders = [path.relative_to(ROOT).parent.as_posix() for path in files]
    return Counter(folder for folder in folders if folder.split("/")[0] in {*PACKAGES, "kernels", "tests"})


# What lies at the top of the project: what was asked for, and what a project needs. Names that begin with a dot aside.
FOLDERS = {"notebooks", "kernels", "images", "results", "locks", "tests", "docs", *PACKAGES}


def strange_folders(files: list[Path]) -> set[str]:
    tops = {path.relative_to(ROOT).parts[0] for path in files if path.parent != ROOT}
    return {top for top in tops if not top.startswith(".")} - FOLDERS


def test_the_top_level_holds_what_it_should():
    assert strange_folders(FILES) == set()
    assert strange_folders([ROOT / "--help" / "a.png", ROOT / ".ci" / "run", ROOT / "Makefile"]) == {"--help"}


def test_folders_stay_small():
    assert {name for name, files in files_of_folders(FILES).items() if files > MAX_FILES} == set(CROWDED)
    assert files_of_folders([ROOT / "tools" / f"{n}.py" for n in range(23)] + [ROOT / "images" / "a.png"]) == {
        "tools": 23
    }


def test_files_stay_small():
    sizes = {str(p.relative_to(ROOT)): len(p.read_text("utf-8").splitlines()) for p in FILES if p.suffix in CODE}
    assert {name: size for name, size in sizes.items() if size > MAX_LINES} == {}


def undocumented(source: str) -> list[str]:
    """What of a module has no docstring: the module itself, its public functions and classes.

    The judge or the law of a puzzle needs none, because `@register` or `@register_law` above it gives its task.
    """
    module = ast.parse(source)
    bare = [] if not source.strip() or ast.get_docstring(module) else ["the module"]
    public = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return bare + [
        node.name
        for node in module.body
        if isinstance(node, public) and not node.name.startswith("_") and not ast.get_docstring(node)
        if not any(
            ast.unparse(decorator).startswith(("register(", "register_law(")) for decorator in node.decorator_list
        )
    ]


def test_public_names_say_what_they_are():
    files = [path for path in FILES if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in PACKAGES]
    apart = {"tests", "solutions", "wrong_answers"}
    files = [path for path in files if not apart & {*path.relative_to(ROOT).parts}]
    found = {str(path.relative_to(ROOT)): undocumented(path.read_text("utf-8")) for path in files}
    assert {name: bare for name, bare in found.items() if bare} == {}
    assert undocumented("def f():\n    pass") == ["the module", "f"]
    assert undocumented('"""It."""\n@register("04_bank", task="Write it.")\ndef f():\n    pass') == []
    assert undocumented('"""It."""\ndef _f():\n    pass') == [] == undocumented("")


VAGUE_NAME = re.compile(r"(?:^|[_-])(?:utils?|common|helpers?|v\d+|better)(?:$|[_-])")


def test_file_names_say_what_is_inside():
    parts = {part.split(".")[0]: path for path in FILES for part in path.relative_to(ROOT).parts}
    assert {str(path) for stem, path in parts.items() if VAGUE_NAME.search(stem)} == set()


@pytest.mark.parametrize("stem", ["utils", "common", "test_helpers", "gemm_v2", "04_better", "tile-util"])
def test_a_vague_name_is_seen(stem):
    assert VAGUE_NAME.search(stem)


HOME_PATH = re.compile(r"(?<![\w.])/(?:home|Users)/\w|(?<![\w.])/root/\w|\b[A-Z]:\\+Users\\")
# What a recorded output would leave in a notebook.
MACHINE_PATH = re.compile(r"(?<![\w./])/(?:tmp|work|mnt|srv|opt|var)/\w")
REGISTRY = re.compile(
    r"://(?:[\w-]+\.)*(?:pypi|npmjs|registry|packages?|files|mirrors?|index|conda|crates|deb)\.[\w.-]+", re.I
)
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")


def test_no_path_of_somebodys_machine():
    assert lines_with(HOME_PATH) == []
    assert lines_with(MACHINE_PATH, [path for path in TEXT_FILES if path.suffix == ".ipynb"]) == []


def test_no_package_registry_is_named():
    assert lines_with(REGISTRY) == []
    assert [path.name for path in FILES if path.suffix == ".lock"] == []


def test_nothing_is_left_unfinished():
    assert lines_with(UNFINISHED) == []


def test_the_patterns_see_what_they_are_for():
    home, scheme = "/ho" + "me/", "https:" + "//"
    assert HOME_PATH.search(f'File "{home}ada/gemm.py"')
    assert not HOME_PATH.search(f"{scheme}example.com{home}page")
    assert MACHINE_PATH.search("Cell In[3], /" + "tmp/ipykernel_7/1.py")
    for host in ("pypi.example", "registry.example.org", "a.packages.example"):
        assert REGISTRY.search(scheme + host + "/simple")
    assert not REGISTRY.search(scheme + "docs.example.com/cuda/index.html")
    assert UNFINISHED.search("# TO" + "DO later")
