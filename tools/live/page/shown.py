"""What the page shows of a run: costs of lines, layouts, the values of arrays, and whether they are as expected."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Any

import numpy as np

from gemm_lab.cards.layout_table import LayoutTable
from gemm_lab.cards.simulated_lines import SimulatedLine
from gpu_simulator.cli.array_parts import deviation
from gpu_simulator.errors import ConfigError
from gpu_simulator.layouts.sentences import notes, verdict

FIRST, WIDE, LONG = 6, 8, 256  # values in a table and in a line; lines at the beginning and at the end of an array
TOLERANCE = {2: 1e-2, 4: 1e-4, 8: 1e-9}  # bytes of a float -> of what is expected, see `deviation`
# What an expectation may use: it may come with a link from somebody else, so it reaches nothing but numbers.
FUNCTIONS = re.compile(
    "sum|prod|cumsum|cumprod|mean|max|min|argmax|argmin|sort|where|clip|round|arange|zeros|ones|eye|full|outer|flip|"
    "transpose|concatenate|bincount|roll|convolve|float(16|32|64)|u?int(8|16|32|64)"
)
METHODS = {"T", "sum", "max", "min", "mean", "reshape", "astype"}
_PARTS = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword, ast.Name, ast.Constant, ast.Slice)
_PARTS += (ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop)


def lines_of(lines: Sequence[SimulatedLine], own: Callable[[str | None, int], int]) -> list[dict[str, Any]]:
    """The costs of lines. own: a file and its line -> the line of the editor, or 0."""
    places = [(line, own(line.file, line.number)) for line in lines]
    return [
        vars(line)
        | {"text": line.text.strip(), "ideal": line.ideal_wavefronts, "line": here or line.number, "here": here > 0}
        for line, here in places
    ]


def layouts_of(tables: Sequence[LayoutTable]) -> list[dict[str, Any]]:
    """The layouts that were tried for each array."""
    told = [(one.study, one.table()) for one in tables]
    return [
        {"says": verdict(study), "header": table.header, "rows": table.rows * bool(study.best), "notes": notes(study)}
        for study, table in told
    ]


def written(value: Any) -> str:
    """A value as the page writes it."""
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def values_of(array: np.ndarray) -> tuple[str, str, str]:
    """(the first values of an array; what it holds, in words; its values, each line behind the number of its first)."""
    flat, facts = array.reshape(-1), ""
    numbers = flat[np.isfinite(flat)] if flat.dtype.kind == "f" else flat
    if numbers.size and numbers.dtype.names is None:
        total = numbers.sum(dtype=np.float64 if flat.dtype.kind == "f" else None)
        facts = f"least {written(numbers.min())}, greatest {written(numbers.max())}, sum {written(total)}; "
    facts += f"{flat.size - numbers.size:,} are NaN or infinite"
    starts = list(range(0, flat.size, WIDE))
    starts = starts if len(starts) <= 2 * LONG else starts[:LONG] + starts[-LONG:]
    lines = (f"[{at}]  {'  '.join(map(written, flat[at : at + WIDE].tolist()))}" for at in starts)
    first = " ".join(map(written, flat[:FIRST].tolist())) + " …" * (flat.size > FIRST)
    return first, facts.removesuffix("; 0 are NaN or infinite"), "\n".join(lines)


def expectation(text: str, parameters: Sequence[str], values: Sequence[Any]) -> tuple[str, str, Any]:
    """(number of an array, its name, what it should hold) of a text such as `c = a + b`, in NumPy's words.

    parameters: as declared, "const float* a".   values: of the arguments before the launch. Raises `ConfigError`.
    """
    known = dict(zip((re.sub(r"\W*\[.*|.*\W(?=\w+$)", "", one) for one in parameters), values, strict=False))
    name, given, words = (part.strip() for part in text.partition("="))
    if not given or not isinstance(known.get(name), np.ndarray):
        arrays = ", ".join(one for one, value in known.items() if isinstance(value, np.ndarray)) or "none"
        raise ConfigError(
            f"“{text}” expects nothing: write an array and what it should hold, c = a + b. The arrays are {arrays}."
        )
    names = {one: f"{one}_" if iskeyword(one) else one for one in known}
    words = re.sub(r"[A-Za-z_]\w*", lambda found: names.get(found[0], found[0]), words)
    usable = {one: value for one, value in vars(np).items() if isinstance(value, np.ufunc) or FUNCTIONS.fullmatch(one)}
    usable |= {names[one]: value for one, value in known.items()} | {"__builtins__": {}}
    try:
        tree = ast.parse(words, mode="eval")
        for part in ast.walk(tree):
            if not isinstance(part, _PARTS) or (isinstance(part, ast.Attribute) and part.attr not in METHODS):
                raise ConfigError(f"“{text}”: an expectation may not have “{ast.unparse(part)}”.")
        with np.errstate(all="ignore"):
            wanted = np.asarray(eval(compile(tree, "expected", "eval"), usable))
        shape = known[name].shape
        wanted = wanted.reshape(shape) if wanted.size == known[name].size else np.broadcast_to(wanted, shape)
        return str(list(known).index(name)), name, wanted.copy()  # the launch changes what is known
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"“{text}” cannot be worked out: {error}.") from None


def missed(name: str, array: np.ndarray, wanted: Any, bytes_of_one: int) -> str:
    """Where an array is not as expected, in words; "" if nowhere. bytes_of_one: of a float as the kernel has it."""
    tolerance = TOLERANCE[bytes_of_one] if array.dtype.kind == "f" else 0.0
    return deviation(array, wanted, tolerance, "expected", name).replace("in the reference", "expected")
