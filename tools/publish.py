"""Says where the repository is published, and writes the address wherever it belongs.

    python -m tools.publish OWNER/REPO      the address on GitHub; the notebooks get a badge and an installation cell
    python -m tools.publish OWNER/REPO --hub https://hub.example.edu   and the links for a JupyterHub with nbgitpuller
    python -m tools.publish --withdraw      take it out again

It writes `[project.urls]` of pyproject.toml, has `tools.sync` write the notebooks, and prints the links of each
platform. `make site` then draws them on every page. Nothing is uploaded.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from gemm_lab.config import data_dir
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError
from tools import colab
from tools.sync import sync

# GitHub: letters, digits and single hyphens, at most 39; a repository may have dots and underscores as well.
_NAME = re.compile(r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}/[\w.-]{1,100}")
_URLS = re.compile(r"\n\[project\.urls\]\nRepository = [^\n]*\n")


def checked(name: str) -> str:
    """The address of OWNER/REPO on GitHub. Raises `LabError` if no repository can have this name."""
    name = name.removeprefix("https://github.com/").removesuffix(".git").rstrip("/")
    if not _NAME.fullmatch(name):
        raise LabError(f"{name!r} is no name of a repository; write OWNER/REPO, as in octocat/gemm_lab.")
    return f"https://github.com/{name}"


def publish(address: str | None, project: Path = colab.PROJECT) -> None:
    """Write the address into the project's file, or take it out with None."""
    text = _URLS.sub("", project.read_text(encoding="utf-8"))
    if address:
        at = text.index("\n[project.optional-dependencies]")
        text = f'{text[:at]}\n[project.urls]\nRepository = "{address}"\n{text[at:]}'
    project.write_text(text, encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Publish or withdraw; exit code 1 and a sentence if the name is none."""
    parser = argparse.ArgumentParser(prog="python -m tools.publish", description="Where this repository is published.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("repository", nargs="?", metavar="OWNER/REPO")
    what.add_argument("--withdraw", action="store_true")
    parser.add_argument("--hub", metavar="ADDRESS", help="of a JupyterHub with nbgitpuller: print its links, too")
    options = parser.parse_args(arguments)
    try:
        address = None if options.withdraw else checked(options.repository)
        if options.hub:
            colab.hub_link("", address or "", options.hub)
    except SimulatorError as error:
        print(error, file=sys.stderr)
        return 1
    publish(address)
    sync()
    if address is None:
        print("The notebooks name no address any more.")
        return 0
    for path in sorted(data_dir("notebooks").glob("*.ipynb")):
        links = colab.links(path.stem, address)
        links |= {"JupyterHub": colab.hub_link(path.stem, address, options.hub)} if options.hub else {}
        print(path.stem, *(f"  {name}: {link}" for name, link in links.items()), sep="\n")
    print("Commit the notebooks and pyproject.toml. The links work once this branch is on GitHub as main.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
