"""What the page shows of a run: costs of lines, layouts, the values of arrays, and whether they are as expected."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from keyword import iskeyword
from typing import Any

import numpy as np

from gemm_lab.cards.layout_table import LayoutTable
from gemm_lab.cards.simulated_lines import SimulatedLine
from gpu_simulator.cli.array_parts import deviation
from gpu_simulator.errors import ConfigError
from gpu_simulator.layouts.sentences import notes, verdict

WIDE, LONG = 8, 256  # values in a line, and lines at the beginning and at the end of an array
TOLERANCE = {2: 1e-2, 4: 1e-4, 8: 1e-9}  # bytes of a float -> of what is expected, see `deviation`
# What an expectation may use: it may come with a link from somebody else, so it reaches nothing but these.
FUNCTIONS = re.compile(
    "sum|prod|cumsum|cumprod|mean|max|min|argmax|argmin|sort|where|clip|round|arange|zeros|ones|eye|full|outer|flip|"
    "transpose|concatenate|bincount|roll|convolve|float(16|32|64)|u?int(8|16|32|64)"
)
METHODS = {"T", "sum", "max", "min", "mean", "reshape", "astype"}
_PARTS = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword, ast.Name, ast.Constant, ast.Slice)
_PARTS += (ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop)


def lines_of(lines: Iterable[SimulatedLine], own: Callable[[str | None, int], int]) -> list[dict[str, Any]]:
    """The costs of lines. own: a file and its line -> the line of the editor, or 0."""
    return [
        {
            "line": own(line.file, line.number) or line.number,
            "here": bool(own(line.file, line.number)),
            "text": line.text.strip(),
            "wavefronts": line.wavefronts,
            "ideal": line.ideal_wavefronts,
            "sectors": line.sectors,
            "least_sectors": line.least_sectors,
        }
        for line in lines
    ]


def layouts_of(tables: Iterable[LayoutTable]) -> list[dict[str, Any]]:
    """The layouts that were tried for each array."""
    return [
        {
            "says": verdict(one.study),
            "header": one.table().header if one.study.best else [],
            "rows": one.table().rows if one.study.best else [],
            "notes": " ".join(notes(one.study)),
        }
        for one in tables
    ]


def written(value: Any) -> str:
    """A value as the page writes it."""
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def values_of(array: np.ndarray) -> tuple[str, str]:
    """(what an array holds, in words; its values in lines that begin with the place of the first one)."""
    facts = ""
    if array.dtype.names is None and array.size:
        numbers = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        if numbers.size:
            total = numbers.sum(dtype=np.float64 if array.dtype.kind == "f" else None)
            facts = f"least {written(numbers.min())}, greatest {written(numbers.max())}, sum {written(total)}"
        if strange := array.size - numbers.size:
            facts += f"; {strange:,} are NaN or infinite"
    flat, width = array.reshape(-1), array.shape[-1] if array.ndim else 1
    starts = [row + column for row in range(0, flat.size, max(width, 1)) for column in range(0, width, WIDE)]
    left_out = len(starts) > 2 * LONG
    text = []
    for start in [*starts[:LONG], None, *starts[-LONG:]] if left_out else starts:
        if start is None:
            text.append("…")
            continue
        end = min(start + WIDE, start - start % width + width)
        place = ", ".join(map(str, np.unravel_index(start, array.shape))) if array.ndim else "0"
        text.append(f"[{place}]  {'  '.join(map(written, flat[start:end].tolist()))}")
    return facts, "\n".join(text)


class Expectation:
    """`c = a + b`: what an argument should hold after the launch, in NumPy's words and in values from before it."""

    def __init__(self, text: str, known: Mapping[str, Any]):
        """known: by their names, the arguments before the launch. Raises `ConfigError`."""
        self.name, given, expression = (part.strip() for part in text.partition("="))
        if not given or not isinstance(known.get(self.name), np.ndarray):
            arrays = ", ".join(name for name, value in known.items() if isinstance(value, np.ndarray))
            raise ConfigError(
                f"“{text}” expects nothing: write an array and what it should hold, such as c = a + b. "
                f"The arrays are {arrays or 'none'}."
            )
        names = {_safe(name): value for name, value in known.items()}
        functions = {
            name: one for name, one in vars(np).items() if isinstance(one, np.ufunc) or FUNCTIONS.fullmatch(name)
        }
        expression = re.sub(
            r"[A-Za-z_]\w*", lambda found: _safe(found[0]) if found[0] in known else found[0], expression
        )
        try:
            tree = ast.parse(expression, mode="eval")
            for part in ast.walk(tree):
                if not isinstance(part, _PARTS) or (isinstance(part, ast.Attribute) and part.attr not in METHODS):
                    raise ConfigError(f"“{text}”: an expectation may not have “{ast.unparse(part)}”.")
            with np.errstate(all="ignore"):
                value = eval(compile(tree, "expected", "eval"), {"__builtins__": {}} | functions | names)
            self.wanted = np.array(
                np.broadcast_to(np.asarray(value), known[self.name].shape)
            )  # the launch changes `known`
        except ConfigError:
            raise
        except Exception as error:
            raise ConfigError(f"“{text}” cannot be worked out: {error}.") from None

    def missed(self, array: np.ndarray, bytes_of_one: int) -> str:
        """Where the argument is otherwise after the launch, in words; "" if nowhere. bytes_of_one: of a float of it."""
        tolerance = TOLERANCE[bytes_of_one] if array.dtype.kind == "f" else 0.0
        return deviation(array, self.wanted, tolerance, "expected", self.name).replace("in the reference", "expected")


def _safe(name: str) -> str:
    return f"{name}_" if iskeyword(name) else name
