"""Builds the site: python -m tools.site --into build/site [--address owner/repo]."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError
from tools.lite import build as lite
from tools.live import build as live
from tools.publish import checked
from tools.site import built, recorded
from tools.site.pages import HERE, Counts, prepare

ROOT = HERE.parents[1]
MARK = "objects.inv"  # a file of every site that Sphinx has built
TITLE = "<title>gemm_lab</title>"  # of the start page, which names the site as its sidebar does
BACK = '<a href="../index.html">The series, as a book</a> <a href="../docs/GLOSSARY.html">Glossary</a>'


def build(into: Path, address: str = "", wheels: Path | None = None) -> Counts:
    """Build the site in the folder `into`, in place of one that was built there before. Returns what it has.

    wheels: a folder with NumPy and ml_dtypes for Pyodide; with it the site has the live page, and the whole lab in
    JupyterLite.

    The site that was there stays until the new one is in order. Raises `LabError` if the folder holds something else,
    if a link leads nowhere, or if Sphinx reports a warning.
    """
    from sphinx.cmd.build import build_main

    from tools.site.conf import FIRST_TITLE

    into = into.resolve()
    if into.exists() and any(into.iterdir()) and not (into / MARK).is_file():
        raise LabError(f"{into} holds something else than a site; choose another folder, or empty it.")
    sources, fresh = into.with_name(f"{into.name}_sources"), into.with_name(f"{into.name}_new")
    for folder in (sources, fresh):
        shutil.rmtree(folder, ignore_errors=True)
    counts = prepare(ROOT, sources, address, live=wheels is not None)
    shutil.copyfile(HERE / "conf.py", sources / "conf.py")
    base = _base(address)
    options = ["-b", "html", "-q", "-W", "--keep-going", "-d", str(sources / ".doctrees"), "-D", f"html_baseurl={base}"]
    options += ["-D", "lab_live=1"] if wheels is not None else []
    if build_main([*options, str(sources), str(fresh)]):
        raise LabError("Sphinx stopped; the lines above say at which page.")
    shutil.rmtree(fresh / "_sources", ignore_errors=True)  # the notebooks once more, without their outputs
    if wheels is not None:
        counts.loads = live.build(fresh / built.LIVE, wheels, ROOT / "build" / "npm")
        lite.build(fresh / built.LITE, fresh / built.LIVE, wheels, ROOT / "build" / "npm")
        page = fresh / built.LIVE / "index.html"
        page.write_text(
            page.read_text(encoding="utf-8").replace('<nav aria-label="Site">', f'<nav aria-label="Site">{BACK} '),
            encoding="utf-8",
        )
    start = fresh / "index.html"
    start.write_text(
        start.read_text(encoding="utf-8").replace(TITLE, f"<title>{FIRST_TITLE}</title>"), encoding="utf-8"
    )
    lost = (HERE / "404.html").read_text(encoding="utf-8")
    (fresh / "404.html").write_text(lost.replace('href="/', f'href="{base or "/"}'), encoding="utf-8")
    (fresh / ".nojekyll").touch()  # GitHub Pages then serves the folders whose names begin with _
    built.check(fresh)
    shutil.rmtree(into, ignore_errors=True)
    fresh.rename(into)
    return counts


def _base(address: str) -> str:
    """The address of the site on GitHub Pages, for that of a repository; "" without one."""
    owner, name = checked(address).split("/")[-2:] if address else ("", "")
    return f"https://{owner.lower()}.github.io/{name}/" if address else ""


def main(argv: list[str] | None = None) -> int:
    """The command line. Returns 0, or 1 after a sentence that says what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description="Build the book as a static web site.")
    parser.add_argument("--into", type=Path, default=Path("build/site"), help="folder of the site")
    parser.add_argument("--address", default="", help="owner/repo on GitHub: draws links to Colab and others")
    parser.add_argument(
        "--wheels", type=Path, default=None, help="NumPy and ml_dtypes for Pyodide: adds the lab in the browser"
    )
    parser.add_argument("--record", action="store_true", help="keep the sizes, which README.md names: see tools.sync")
    options = parser.parse_args(argv)
    begin = time.monotonic()
    try:
        counts = build(options.into, options.address, options.wheels)
    except SimulatorError as error:
        print(error, file=sys.stderr)
        return 1
    seconds, sizes = time.monotonic() - begin, built.megabytes(options.into)
    names = {"book": "the book", built.LIVE: "the page for one kernel", built.LITE: "JupyterLite"}
    parts = ", ".join(f"{names[part]} {size:.1f}" for part, size in sizes.items())
    print(f"{options.into}: {sum(sizes.values()):.1f} MB ({parts}), {counts.pages} pages, {counts.live} live widgets")
    print(f"It took {seconds:.0f} s.")
    for name, size in counts.loads.items():
        print(f"A browser loads {size / built.MEGABYTE:.1f} MB, compressed, for the {name} of one kernel.")
    if options.record:
        recorded.write(counts, sizes)
    if options.wheels is None:
        print("Without the lab in the browser, which needs NumPy for Pyodide: make site WASM_WHEELS=FOLDER.")
    if counts.still:
        print(f"These widgets stay pictures: {', '.join(counts.still)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
