"""Calls a learner's function for a puzzle and says in a sentence what is wrong with what it returned.

A function that raises, returns nothing, or never ends is reported like a wrong value. Endless loops are found by
counting executed lines, not by a clock, so that a slow computer gives the same verdict.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gpu_simulator.argument_checks import shown
from gpu_simulator.errors import SimulatorError

MOST_LINES = 3_000_000  # lines of Python that one call may execute


class Missed(Exception):
    """The function does not solve the puzzle; the message is a sentence that says what is wrong."""


class NotWritten(Exception):
    """The function is not finished: it returns `...`, or a tuple or list that contains it."""


def call(function: Callable[..., Any], *args: Any, most_lines: int | None = MOST_LINES) -> Any:
    """`function(*args)`. Raises `Missed` if it raises, or executes more than `most_lines` lines of Python (None: any).

    Raises `NotWritten` if the value contains `...`. `KeyboardInterrupt` passes through.
    """
    try:
        with _line_budget(most_lines):
            value = function(*args)
    except _TooManyLines:
        raise Missed(
            f"{spelled(function, args)} executed more than {most_lines or 0:,} lines and was stopped. "
            "Does one of its loops never end?"
        ) from None
    except Missed:  # from an argument that refuses what the learner does with it
        raise
    except Exception as error:
        raise Missed(f"{spelled(function, args)} {_described(error, function)}") from None
    if _unfinished(value):
        raise NotWritten
    return value


def _unfinished(value: Any) -> bool:
    """Whether the value is `...`, or a tuple or list that contains it."""
    return value is ... or (isinstance(value, (tuple, list)) and any(map(_unfinished, value)))


def expect(
    function: Callable[..., Any], args: tuple[Any, ...], wanted: Any, why: str | Callable[[Any], str] = ""
) -> Any:
    """Call the function and compare its value with `wanted`, exactly; returns the value.

    Numbers, booleans, texts, and tuples, lists or arrays of these can be compared; a list equals a tuple with the same
    elements. why: a sentence that follows the message, or a function that makes one from the wrong value. Raises
    `Missed` if they differ, and what `call` raises.
    """
    value = call(function, *args)
    if not _same(value, wanted):
        returned = "nothing; end it with return" if value is None else f"{shown(_plain(value), 200)}"
        expected = "" if value is None else f"; expected {shown(_plain(wanted), 200)}"
        reason = why(value) if callable(why) else why
        if isinstance(wanted, bool) and value is not None and not isinstance(_plain(value), bool):
            reason = "The function has to return True or False, such as the result of a comparison."
        raise Missed(" ".join(filter(None, [f"{spelled(function, args)} returned {returned}{expected}.", reason])))
    return value


def expect_all(
    function: Callable[..., Any], cases: Iterable[tuple[tuple[Any, ...], Any]], why: Callable[..., str] = lambda *_: ""
) -> int:
    """`expect` for each (args, wanted); `why(*args)` explains a wrong value. Returns the number of cases."""
    count = 0
    for args, wanted in cases:
        expect(function, args, wanted, why(*args))
        count += 1
    return count


def spelled(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """The call as the learner would type it, such as `bank(132)`; long arguments are cut, NumPy matrices left out."""
    name = getattr(function, "__name__", "the function")
    return f"{name}({', '.join('…' if getattr(arg, 'ndim', 0) == 2 else shown(_plain(arg)) for arg in args)})"


def _plain(value: Any) -> Any:
    """The value with NumPy's scalars and arrays replaced by Python's numbers and lists, which read better."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(item) for item in value) if type(value) in (list, tuple) else value
    return value


def _same(value: Any, wanted: Any) -> bool:
    value, wanted = _plain(value), _plain(wanted)
    if isinstance(wanted, (list, tuple)):
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(wanted)
            and all(_same(mine, right) for mine, right in zip(value, wanted, strict=True))
        )
    if isinstance(wanted, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(wanted, bool) and value == wanted
    if isinstance(wanted, float):
        return isinstance(value, (int, float)) and abs(value - wanted) <= 1e-9 * max(1.0, abs(wanted))
    try:
        return bool(value == wanted)
    except Exception:  # from an __eq__ of the learner's own class
        return False


def _described(error: Exception, function: Callable[..., Any]) -> str:
    """What was raised and in which line of the function, counted from its `def`; the lab's own errors need no name."""
    code = getattr(function, "__code__", None)
    lines = [number for frame, number in traceback.walk_tb(error.__traceback__) if frame.f_code is code]
    where = f" in line {lines[-1] - code.co_firstlineno + 1} of your cell’s function" if lines and code else ""
    said = str(error).strip().rstrip(".")
    raised = "stopped" if isinstance(error, SimulatorError) else f"raised {type(error).__name__}"
    return f"{raised}{where}{': ' + said if said else ''}."


class _TooManyLines(BaseException):
    """Raised inside the learner's function; no `except Exception` there can catch it."""


@contextmanager
def _line_budget(most: int | None) -> Iterator[None]:
    """While active, counts the executed lines of Python and raises `_TooManyLines` after `most` of them.

    A debugger or a coverage tool that traces already is left alone, and then nothing is counted.
    """
    if most is None or sys.gettrace() is not None:
        yield
        return
    left = most

    def counted(frame: Any, event: str, arg: Any) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            raise _TooManyLines
        return counted

    sys.settrace(counted)
    try:
        yield
    finally:
        sys.settrace(None)
