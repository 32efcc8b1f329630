"""Text that is generated from the results: numbers in prose between markers, and whole blocks of README.md.

    <!-- = hopper/08_ping_pong 4096 tflops -->692.5<!-- / -->     a number of a recorded row; `of cublas…` in %
    <!-- = gemm_lab lines -->14,000<!-- / -->                     the length of a package, by tools.sizes
    <!-- = site pages -->29<!-- / -->                             a figure of the built site, by tools.site.recorded
    <!-- begin: results --> … <!-- end: results -->               a block, written by tools.readme_blocks

Rendered Markdown does not show the markers. `python -m tools.sync` writes the text between them; a test fails if that
text does not match the results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gemm_lab.notebook.scoreboard import scoreboard
from gemm_results.errors import LabError
from tools import sizes
from tools.site import recorded

NUMBER = re.compile(r"<!-- = (?P<key>[^>]*?) -->(?P<text>[^<]*)<!-- / -->")
BLOCK = re.compile(r"(?P<head><!-- begin: (?P<name>[\w-]+) -->\n)(?P<text>.*?)(?P<tail><!-- end: (?P=name) -->)", re.S)
WHAT = {
    "tflops": lambda board, name: f"{board.row(name).tflops:.1f}",
    "of cublas": lambda board, name: f"{100 * board.row(name).ratio_cublas:.1f}",
    "of cublaslt_best": lambda board, name: f"{100 * board.row(name).ratio_cublaslt:.1f}",
    "of ceiling": lambda board, name: f"{100 * board.row(name).ratio_ceiling:.1f}",
    "gain": lambda board, name: f"{board.gain(name).ratio:.2f}",
}


def number(key: str) -> str:
    """The text for a key "KERNEL SIZE [burst] WHAT", "PACKAGE lines" or "site WHAT".

    The first comes from the rows that were recorded on the H200. Raises `LabError` for a key of another form or without
    a recorded row.
    """
    package, _, what = key.partition(" ")
    if package == "site":
        return recorded.number(what)
    if what == "lines" and package in sizes.PACKAGES:
        return sizes.rounded(sizes.of(package, "Python", "JavaScript"))
    found = re.fullmatch(rf"(\S+) (\d+) (?:(burst|sustained) )?({'|'.join(WHAT)})", key)
    if found is None:
        raise LabError(
            f"A marker says “{key}”; it has to be KERNEL SIZE WHAT, such as “t4/08 4096 tflops”. WHAT is "
            f"one of {', '.join(WHAT)}."
        )
    name, n, regime, what = found.groups()
    return WHAT[what](scoreboard(int(n), regime or "sustained", on="h200"), name)


def written(text: str, blocks: Mapping[str, Callable[[], str]] | None = None) -> str:
    """The text with every marked number and block generated from the results.

    blocks: {name: function that returns the text of a block}. Raises `LabError` for a marker that cannot be filled.
    """
    blocks = blocks or {}

    def block(match: re.Match) -> str:
        if match["name"] not in blocks:
            raise LabError(f"There is no block “{match['name']}”; there are {', '.join(blocks) or 'none'}.")
        return f"{match['head']}{blocks[match['name']]().rstrip()}\n{match['tail']}"

    text = BLOCK.sub(block, text)
    return NUMBER.sub(lambda match: f"<!-- = {match['key']} -->{number(match['key'])}<!-- / -->", text)


def unmarked(text: str) -> str:
    """The text without the markers and the numbers and blocks between them."""
    return NUMBER.sub("", BLOCK.sub("", text))
