"""Finds numbers with a unit of speed, clocks and ratios in prose that have no source which keeps them up to date.

The accepted sources are these; `unbacked` finds numbers that have none of them:

    marked      the number is between markers, and `python -m tools.sync` writes it (see `generated_text`)
    published   its paragraph names one of the five texts (docs/REFERENCES.md) or a data sheet, or says “published”:
                such a figure does not change. If the paragraph also mentions a recording, the figure has to be in
                results/published.csv
    hardware    it is a figure of `gpu_simulator.hardware.data_sheets` or of `model.roofline`, which give its source
    printed     a cell of the same notebook prints it, so a changed number is seen when the notebook is stored again
    counted     “128 times”: a power of two, which follows from tiles and lanes; and 100 %, a bound
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from html import unescape

from gemm_results import roofline_model as roofline
from gemm_results.published import published
from gpu_simulator.hardware.data_sheets import GPUS
from tools.generated_text import unmarked

UNITS = r"TFLOPS|GFLOPS|GFLOP/s|TB/s|GB/s|MHz|%|percent|times|×"
NUMBER = r"(?<![\w.,^/*%+-])(\d[\d,]*(?:\.\d+)?)"
FOUND = re.compile(rf"{NUMBER}(?: (?:to|and|or|against) (\d[\d,]*(?:\.\d+)?))?[ \u00a0\u202f]?({UNITS})(?![\w]|\s*\d)")
# The keys of docs/REFERENCES.md. “document” counts as well while notebooks 00 to 05 say it.
KEYS = "tiling text|T4 article|Ampere article|H100 report|B200 walk-through"
SOURCE = re.compile(
    r"\b(published|documents?|data sheet|white ?paper|arXiv|{})\b|`({})`".format(
        KEYS, "|".join(sorted({row.source for row in published()}))
    ),
    re.I,
)

OURS = re.compile(r"\b(recorded|measured here|on (?:an|the|one|our) H200)\b", re.I)


@dataclass(frozen=True)
class Spoken:
    """A number in prose, as it is written, with its unit and its paragraph."""

    text: str
    unit: str
    paragraph: str

    @property
    def value(self) -> float:
        return float(self.text.replace(",", ""))

    def __str__(self) -> str:
        return f"{self.text} {self.unit}: “{' '.join(self.paragraph.split())[:90]}…”"


def spoken(text: str) -> Iterator[Spoken]:
    """The numbers of a Markdown text, without those in code and those that `sync` writes."""
    text = re.sub(
        r"```.*?```|`[^`\n]*`", lambda code: code[0] if SOURCE.search(code[0]) else "", unmarked(text), flags=re.S
    )
    for paragraph in re.split(r"\n\s*\n", text):
        for first, second, unit in FOUND.findall(paragraph):
            yield from (Spoken(number, unit, paragraph) for number in (first, second) if number)


def questions(source: str) -> str:
    """The questions of the predictions (`lab.guess`) in a code cell, one paragraph each; "" if it has none."""
    if "lab.guess(" not in source or source.startswith("%%"):
        return ""
    tree = ast.parse(re.sub(r"^%.*$", "", source, flags=re.M))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return "\n\n".join(
        call.args[0].value
        for call in calls
        if getattr(call.func, "attr", "") == "guess" and call.args and isinstance(call.args[0], ast.Constant)
    )


def printed(book) -> str:
    """The text of all outputs of a notebook: streams, plain text and HTML without its tags."""
    shown = []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            shown += [
                output.get("text", ""),
                data.get("text/plain", ""),
                unescape(re.sub(r"<[^>]+>", " ", re.sub(r"base64,[^\"]+", "", data.get("text/html", "")))),
            ]
    return "\n".join("".join(part) for part in shown)


@cache
def known_figures() -> frozenset[float]:
    """All numbers of the data sheets and the constants of `model.roofline`."""
    found = {roofline.CUBLAS_HGEMM_T4, roofline.CUBLAS_SGEMM_T4, round(roofline.CUBLAS_HGEMM_T4, 1)}
    for gpu in GPUS.values():
        found |= set(gpu.tensor_tflops.values())
        found |= {value for field in fields(gpu) if isinstance(value := getattr(gpu, field.name), (int, float))}
    return frozenset(float(value) for value in found)


@cache
def published_figures() -> frozenset[float]:
    """All TFLOPS and percentages of results/published.csv."""
    rows = [(row.tflops, row.percent_of_peak, row.percent_of_cublas) for row in published()]
    return frozenset(value for row in rows for value in row if value is not None)


def support(number: Spoken, shown: str = "") -> str | None:
    """The source of a number, such as "published"; None if it has none. shown: what its notebook prints."""
    if SOURCE.search(number.paragraph) and (not OURS.search(number.paragraph) or number.value in published_figures()):
        return "published"
    if number.unit in ("TFLOPS", "GB/s", "TB/s") and number.value in known_figures():
        return "hardware"
    if number.unit in ("times", "×") and math.frexp(number.value)[0] == 0.5 and number.value >= 1:
        return "counted"
    if number.unit in ("%", "percent") and number.value == 100:
        return "counted"
    token, unit = re.escape(number.text), re.escape(number.unit)
    alone = rf"(?<![\w.,]){token}(?![\w.,]*\d)"
    near = rf"(?<![\w.,]){token}\s*{'(?:%|percent)' if number.unit in ('%', 'percent') else unit}"
    telling = "." in number.text or len(number.text) >= 4  # a short whole number can occur in any output by chance
    return "printed" if re.search(alone if telling else near, shown) else None


def unbacked(texts: list[str], shown: str = "") -> list[str]:
    """One line for each number in Markdown texts that has no source. shown: what their notebook prints."""
    return [str(number) for text in texts for number in spoken(text) if support(number, shown) is None]
