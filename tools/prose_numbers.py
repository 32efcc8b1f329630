"""Numbers with a unit of speed or a ratio in prose, and what each rests on: none may be somebody's memory of a run.

A number is kept right by one of these, and `unbacked` finds those that are by none:

    marked      it stands between markers, and `python -m tools.sync` writes it (see `generated_text`)
    published   its paragraph names a document, a data sheet or says “published”: such a figure does not change. Where
                the paragraph speaks of a recording, too, the figure has to stand in results/published.csv
    hardware    it is a figure of `gpu_simulator.hardware.data_sheets` or of `model.roofline`, where its source stands
    printed     a cell of the same notebook prints it, so storing the notebook anew would show another one
    counted     “128 times”: a power of two, the arithmetic of tiles and lanes; and 100 %, a bound
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from html import unescape

from gemm_lab.model import roofline
from gemm_lab.published import published
from gpu_simulator.hardware.data_sheets import GPUS
from tools.generated_text import unmarked

UNITS = r"TFLOPS|GFLOPS|GFLOP/s|TB/s|GB/s|%|percent|times"
NUMBER = r"(?<![\w.,^/*%+-])(\d[\d,]*(?:\.\d+)?)"
FOUND = re.compile(rf"{NUMBER}(?: (?:to|and) (\d[\d,]*(?:\.\d+)?))?[ \u00a0\u202f]?({UNITS})(?![\w]|\s*\d)")
SOURCE = re.compile(
    r"\b(published|documents?|data sheet|white ?paper|arXiv)\b|`({})`".format(
        "|".join(sorted({row.source for row in published()}))
    ),
    re.I,
)

OURS = re.compile(r"\b(recorded|measured here|on (?:an|the|one|our) H200)\b", re.I)


@dataclass(frozen=True)
class Spoken:
    """A number as prose has it, its unit, and the paragraph around it."""

    text: str
    unit: str
    paragraph: str

    @property
    def value(self) -> float:
        return float(self.text.replace(",", ""))

    def __str__(self) -> str:
        return f"{self.text} {self.unit}: “{' '.join(self.paragraph.split())[:90]}…”"


def spoken(text: str) -> Iterator[Spoken]:
    """The numbers of a Markdown text. Code and what `sync` writes are left out."""
    text = re.sub(
        r"```.*?```|`[^`\n]*`", lambda code: code[0] if SOURCE.search(code[0]) else "", unmarked(text), flags=re.S
    )
    for paragraph in re.split(r"\n\s*\n", text):
        for first, second, unit in FOUND.findall(paragraph):
            yield from (Spoken(number, unit, paragraph) for number in (first, second) if number)


def questions(source: str) -> str:
    """The words of the predictions in a code cell, each a paragraph."""
    if "lab.predict(" not in source or source.startswith("%%"):
        return ""
    tree = ast.parse(re.sub(r"^%.*$", "", source, flags=re.M))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return "\n\n".join(
        call.args[0].value
        for call in calls
        if getattr(call.func, "attr", "") == "predict" and call.args and isinstance(call.args[0], ast.Constant)
    )


def printed(book) -> str:
    """What the cells of a notebook show as text: streams, plain text and HTML without its tags."""
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
    """Every number of the hardware table and of the constants of the roofline."""
    found = {roofline.CUBLAS_HGEMM_T4, roofline.CUBLAS_SGEMM_T4, round(roofline.CUBLAS_HGEMM_T4, 1)}
    for gpu in GPUS.values():
        found |= set(gpu.tensor_tflops.values())
        found |= {value for field in fields(gpu) if isinstance(value := getattr(gpu, field.name), (int, float))}
    return frozenset(float(value) for value in found)


@cache
def published_figures() -> frozenset[float]:
    """Every number of results/published.csv."""
    rows = [(row.tflops, row.percent_of_peak, row.percent_of_cublas) for row in published()]
    return frozenset(value for row in rows for value in row if value is not None)


def support(number: Spoken, shown: str = "") -> str | None:
    """What keeps a number right; None if nothing does. `shown` is what the notebook around it prints."""
    if SOURCE.search(number.paragraph) and (not OURS.search(number.paragraph) or number.value in published_figures()):
        return "published"
    if number.unit in ("TFLOPS", "GB/s", "TB/s") and number.value in known_figures():
        return "hardware"
    if number.unit == "times" and math.frexp(number.value)[0] == 0.5 and number.value >= 1:
        return "counted"
    if number.unit in ("%", "percent") and number.value == 100:
        return "counted"
    token, unit = re.escape(number.text), re.escape(number.unit)
    alone = rf"(?<![\w.,]){token}(?![\w.,]*\d)"
    near = rf"(?<![\w.,]){token}\s*{'(?:%|percent)' if number.unit in ('%', 'percent') else unit}"
    telling = "." in number.text or len(number.text) >= 4  # a short whole number stands in any output
    return "printed" if re.search(alone if telling else near, shown) else None


def unbacked(texts: list[str], shown: str = "") -> list[str]:
    """A sentence for each number in Markdown texts that nothing keeps right."""
    return [str(number) for text in texts for number in spoken(text) if support(number, shown) is None]
