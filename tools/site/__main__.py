"""Builds the site: python -m tools.site --into build/site [--address owner/repo]."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from gpu_simulator.errors import LabError
from tools.site import built
from tools.site.pages import HERE, Counts, prepare

ROOT = HERE.parents[1]
MARK = "objects.inv"  # a file of every site that Sphinx has built


def build(into: Path, address: str = "") -> Counts:
    """Build the site in the folder `into`, in place of one that was built there before. Returns what it has.

    Raises `LabError` if the folder holds something else, if a link leads nowhere, or if Sphinx reports a warning.
    """
    from sphinx.cmd.build import build_main

    into = into.resolve()
    if into.exists() and any(into.iterdir()) and not (into / MARK).is_file():
        raise LabError(f"{into} holds something else than a site; choose another folder, or empty it.")
    sources = into.with_name(f"{into.name}_sources")
    for folder in (into, sources):
        shutil.rmtree(folder, ignore_errors=True)
    counts = prepare(ROOT, sources, address)
    shutil.copyfile(HERE / "conf.py", sources / "conf.py")
    options = ["-b", "html", "-q", "-W", "--keep-going", "-d", str(sources / ".doctrees")]
    if build_main([*options, str(sources), str(into)]):
        raise LabError("Sphinx stopped; the lines above say at which page.")
    shutil.rmtree(into / "_sources", ignore_errors=True)  # the notebooks once more, without their outputs
    (into / ".nojekyll").touch()  # GitHub Pages then serves the folders whose names begin with _
    built.check(into)
    return counts


def main(argv: list[str] | None = None) -> int:
    """The command line. Returns 0, or 1 after a sentence that says what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description="Build the book as a static web site.")
    parser.add_argument("--into", type=Path, default=Path("build/site"), help="folder of the site")
    parser.add_argument("--address", default="", help="owner/repo on GitHub: draws links to Colab and others")
    options = parser.parse_args(argv)
    begin = time.monotonic()
    try:
        counts = build(options.into, options.address)
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    seconds, size = time.monotonic() - begin, built.megabytes(options.into)
    print(f"{options.into}: {counts.pages} pages, {size:.1f} MB, {counts.live} live widgets, {seconds:.0f} s")
    if counts.still:
        print(f"These widgets stay pictures: {', '.join(counts.still)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
