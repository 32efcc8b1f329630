"""How large the arrays of a guessed launch have to be: the kernel runs once on large ones, and its accesses are noted.

In a word of an argument, `?` in the place of an extent is such a size, and `?` in the place of the contents, or none
behind such a size, are contents that suit the array: zeros, or random numbers where the kernel reads what it has not
written before.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gpu_simulator.cli.argument_words import DTYPES, named_arrays
from gpu_simulator.cli.command_line import arguments_of, symbols_of
from gpu_simulator.codegen.program import program_of
from gpu_simulator.faults import SimulatedFault
from gpu_simulator.kernel_file import KernelFile
from gpu_simulator.launch_checks import SHARED_LIMIT
from gpu_simulator.launching import launch
from gpu_simulator.machine.observer import Observer
from gpu_simulator.observers.access import by_array

ROOM = 1 << 20  # elements of an array of unknown size while its size is being found out
GENEROUS = 1024  # elements where the size depends on what the arrays hold
SECONDS = 2.0  # that are spent on it
OPEN = re.compile(r"\b(?P<type>[a-z]+\d+):(?P<size>\?|\d+)(?P<rest>(?:x\d+)*)(?::(?P<fill>[\w?]+))?")


class Touched:
    """What the blocks of a launch touched. ends: name of an array -> the end of its last byte that was used.

    read: names of the arrays of which something was read before it was written.   shared: as ends, of shared memory.
    whole: whether the kernel ran to its end.
    """

    def __init__(self) -> None:
        self.ends: dict[str, int] = {}
        self.read: set[str] = set()
        self.written: dict[str, np.ndarray] = {}
        self.shared, self.whole = 0, True

    def observe(self, resident: Any) -> Observer:
        """The observer of one group of resident blocks, for `launch(observers=…)`."""
        return _Toucher(resident, self)


class _Toucher(Observer):
    def __init__(self, resident: Any, touched: Touched):
        super().__init__(resident)
        self.touched, self.sites = touched, resident.program.sites

    def note(self, memory: Any, index: Any, width: int) -> Iterable[tuple[str, np.ndarray]]:
        """Yields (array, bytes at which the accesses begin)."""
        index, found = np.asarray(index), self.touched
        if memory is self.resident.shared:
            at = index.astype(np.int64) * width % self.resident.shared_stride
            found.shared = max(found.shared, int(at.max()) + width)
            return
        for number, _, within in by_array(memory, index, width):
            name, at = memory.names[number], np.atleast_1d(within).astype(np.int64) * width
            found.ends[name] = max(found.ends.get(name, 0), int(at.max()) + width)
            if name not in found.written:
                found.written[name] = np.zeros((memory.ends[number] - memory.starts[number]) // 4 + 1, bool)
            yield name, at // 4

    def read(self, lanes, site, memory, index, picked, width) -> None:
        for name, at in self.note(memory, index, width):
            if "volatile" not in self.sites[site].parts and not self.touched.written[name][at].all():
                self.touched.read.add(name)

    def write(self, lanes, site, memory, index, picked, width, values=None) -> None:
        for name, at in self.note(memory, index, width):
            for part in range(-(-width // 4)):
                self.touched.written[name][at + part] = True

    def atomic(self, lanes, site, memory, index, picked, width) -> None:
        self.write(lanes, site, memory, index, picked, width)

    def copy_issued(self, lanes, site, index, picked, width) -> None:
        list(self.note(self.resident.shared, index, width))


def is_open(options: argparse.Namespace) -> bool:
    """Whether a launch has something that the kernel's accesses decide."""
    return options.smem < 0 or any("?" in word for word in options.arguments)


def close(kernel: KernelFile, options: argparse.Namespace) -> None:
    """Put sizes and contents in the place of each `?` of the arguments, and of dynamic shared memory of -1 bytes."""
    program = program_of(kernel.program.ptx, kernel.entry)
    base = program.dynamic_offset - program.shared_base
    free = SHARED_LIMIT.get(program.module.capability, 49152) - base
    first = _run(kernel, options, "random", free)
    again = first.whole and any(re.search(r"\b[iu]\d+:", word) for word in options.arguments)  # may be indices
    runs = [first, _run(kernel, options, "zeros", free) if again else first]
    if options.smem < 0:
        found = max(one.shared for one in runs) - program.dynamic_offset
        options.smem = max(0, 4 * _fitting(-(-found // 4), _factors(options)))
    sizes = iter(_names(options))

    def closed(found: re.Match) -> str:
        if "?" not in found[0]:
            return found[0]
        name, extents = f"argument {next(sizes)}", [int(one) for one in re.findall(r"\d+", found["rest"])]
        size, each = found["size"], np.dtype(DTYPES[found["type"]]).itemsize * int(np.prod(extents, initial=1))
        if size == "?":
            ends = [-(-one.ends.get(name, 1) // each) for one in runs]
            depends = ends[0] != ends[1]
            size = max(GENEROUS, *ends) if depends else _fitting(ends[0], _factors(options))
            size = str(size) if extents else _shape(size, options)
        fill = found["fill"]
        if fill in (None, "?"):
            fill = ("arange" if found["type"][0] in "iu" else "random") if name in first.read else "zeros"
        return f"{found['type']}:{size}{found['rest']}:{fill}"

    options.arguments = [OPEN.sub(closed, word) for word in options.arguments]


def _names(options: argparse.Namespace) -> list[str]:
    """The names of the arrays with a `?`, in the order of the words."""
    return [name for at, word in enumerate(options.arguments) for name in named_arrays(r"\?", word, str(at))]


def _run(kernel: KernelFile, options: argparse.Namespace, fill: str, free: int) -> Touched:
    """Run the kernel on large arrays. fill: the contents of those that it is given to read."""

    def roomy(found: re.Match) -> str:
        size = ROOM if found["size"] == "?" else found["size"]
        given = found["fill"] if found["fill"] not in (None, "?") else "zeros"
        given = fill if given == "random" or found["type"][0] not in "iu" else given
        return f"{found['type']}:{size}{found['rest']}:{given}"

    other = argparse.Namespace(**vars(options))
    other.arguments = [OPEN.sub(roomy, word) if "?" in word else word for word in options.arguments]
    touched, smem = Touched(), options.smem if options.smem >= 0 else free
    try:
        launch(
            kernel.program,
            kernel.entry,
            options.grid,
            options.block,
            arguments_of(other),
            smem,
            options.cluster,
            max_seconds=SECONDS,
            symbols=symbols_of(options),
            observers=[touched.observe],
        )
    except SimulatedFault:  # what it has touched until then; the launch itself says what is wrong
        touched.whole = False
    return touched


def _numbers(options: argparse.Namespace) -> list[int]:
    """The whole numbers among the arguments."""
    numbers = (int(word) for word in re.findall(r"(?<![\w.:?])\d+(?![\w.:?])", " ".join(options.arguments)))
    return [one for one in numbers if one > 1]


def _factors(options: argparse.Namespace) -> list[int]:
    return [*options.grid, *options.block, *_numbers(options)]


def _shape(size: int, options: argparse.Namespace) -> str:
    """The extents of an array: rows of as many elements as a number of the launch says, if there are so many rows."""
    numbers = _numbers(options)
    for row in numbers:
        if size // row in {*numbers, *options.grid} - {1} and size % row == 0:
            return f"{size // row}x{row}"
    return str(size)


def _fitting(count: int, factors: Sequence[int]) -> int:
    """The size of an array of which `count` elements were touched.

    A product of up to three extents or numbers of the launch, or of 2, is taken if it differs by a sixteenth, so that a
    kernel that goes a little too far is found out.
    """
    products = {a * b * c for a, b, c in itertools.product([1, 2, *factors], repeat=3)}
    near = [one for one in products if abs(one - count) <= one // 16]
    return min(near, key=lambda one: abs(one - count), default=count)
