"""Makes JupyterLab trust the notebooks of the release, which are identified by their hashes, and no others.

JupyterLab runs the scripts in a trusted notebook's stored outputs as soon as it is opened. `make lab` trusts the
series, so that its pictures and widgets are shown. A notebook from elsewhere stays untrusted, even in the same folder.

    python -m gemm_lab.trust [FOLDER]
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import nbformat
from jupyter_core.paths import jupyter_data_dir
from nbformat.sign import NotebookNotary

from gemm_lab.config import data_dir
from gemm_lab.notebook_files import notebooks_in

LIST = "release.sha256"


def digest(path: Path) -> str:
    """The SHA-256 of a notebook's JSON content, which ignores white space and line ends; "" if it is not JSON."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    return hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def release_list(folder: Path) -> str:
    """The text that release.sha256 should have for the notebooks of a folder: a line "HASH  NAME" for each."""
    return "".join(f"{digest(path)}  {path.name}\n" for path in sorted(folder.glob("*.ipynb")))


def sign(folder: Path, notary: NotebookNotary | None = None) -> list[Path]:
    """Trust the notebooks of a folder that belong to the release; returns the others, which are not changed."""
    listed = data_dir("notebooks") / LIST
    known = {line.split()[0] for line in listed.read_text(encoding="utf-8").splitlines()} if listed.is_file() else set()
    Path(jupyter_data_dir()).mkdir(parents=True, exist_ok=True)  # the notary stores its key in this folder
    notary, others = notary or NotebookNotary(), []
    for path in notebooks_in(folder):
        if digest(path) in known:
            notary.sign(nbformat.read(path, as_version=4))
        else:
            others.append(path)
    return others


def main(argv: list[str] | None = None) -> int:
    """Trust the notebooks of the release in a folder, and print the names of the others. Returns 0."""
    parser = argparse.ArgumentParser(description="Trust the notebooks of this release, and only these.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("notebooks"))
    others = sign(parser.parse_args(argv).folder)
    if others:
        print(
            f"Not trusted, because changed or not of this release: {', '.join(path.name for path in others)}. "
            "JupyterLab shows such a notebook without the scripts of its stored outputs until its cells are run."
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
