"""The fixture `simulated` for pytest: launches kernels without a GPU and asserts what they find, give and cost.

    def test_reverse(simulated):
        data = np.arange(64, dtype=np.int32)
        run = simulated("reverse.cu", block=64, args=[data])
        run.assert_no_hazard()
        run.assert_result(0, np.arange(64)[::-1])
        run.assert_wavefronts("s[63 - threadIdx.x]", at_most=2)
        run.assert_not_worse()

`pytest --simulated-baseline-write` writes the counts of all launches that call `assert_not_worse` into the baseline
file, `simulated_baseline.json` in pytest's root folder or what the ini option `simulated_baseline` names.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_simulator.argument_checks import shown
from gpu_simulator.cli.array_parts import deviation
from gpu_simulator.cli.baseline import Baseline
from gpu_simulator.cli.report_text import line_costs, listing
from gpu_simulator.errors import ConfigError, SimulatorError
from gpu_simulator.kernel_file import COMPILERS, KernelFile, kernel_file
from gpu_simulator.launch_checks import check_dtypes
from gpu_simulator.launching import Extent, launch
from gpu_simulator.machine.argument_structs import arrays_in
from gpu_simulator.observers.hazards import Hazard, widest_first
from gpu_simulator.observers.severities import SUSPICIOUS
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.report import Report, Totals

WRITE, COMPILER = "--simulated-baseline-write", "--simulated-compiler"


WRITES = f"pytest {WRITE} writes what the launches cost now, of all tests or of those that you name."
LESS = "costs less"  # a property of a test's report, which pytest-xdist hands on


@dataclass(repr=False)
class SimulatedRun:
    """One launch, which has changed its arrays. Each assertion fails with a sentence that names the line.

    report: of the launch, as `gpu_simulator.launch` gives it.   late: makes the launch again, in late timing.
    arrays: by the numbers of their arguments.   name: of the launch in the baseline.   notes: of the test's report.
    """

    kernel: KernelFile
    path: Path
    report: Report
    late: Callable[[], Report]
    arrays: Mapping[str, np.ndarray]
    name: str
    baseline: Baseline
    notes: list[tuple[str, object]]

    @cached_property
    def hazards(self) -> list[Hazard]:
        """What the search for races and missing waits found; the launch in late timing runs when this is asked."""
        __tracebackhide__ = True
        early = self.report.hazards
        known = {(one.kind, one.ptx_line) for one in early}
        late = [] if _serious(early) else self.late().hazards
        return widest_first([*early, *(one for one in late if (one.kind, one.ptx_line) not in known)])

    def assert_no_hazard(self, suspicious: bool = False) -> None:
        """Fail if there is a race or an error in one of the two timings. suspicious: or what is only suspicious."""
        __tracebackhide__ = True
        found = self.hazards if suspicious else _serious(self.hazards)
        if found:
            _fail(f"{len(found)} hazard{'s' * (len(found) > 1)}:", *(f"  {one.severity}: {one}" for one in found))

    def assert_result(self, argument: int | str, expected: Any, tolerance: float = 0.0) -> None:
        """Fail if an array differs from the expected values, where a NaN is equal to a NaN.

        argument: its number, or of a member of a struct such as "0.1".   tolerance: of |a - b| / max(1, |b|).
        """
        __tracebackhide__ = True
        name = str(argument)
        if name not in self.arrays:
            raise ConfigError(f"Argument {name} is not an array; these are: {', '.join(self.arrays) or 'none'}.")
        got, wanted = map(_as_numbers, (self.arrays[name], np.asarray(expected)))
        if said := deviation(got, wanted, tolerance, f"argument {name}", name):
            _fail(f"argument {name} is wrong in {said}.")

    def counts(self, line: int | str) -> Totals:
        """The counts of a source line, named by its number or by a text that stands in one of the lines that have any.

        Raises `ConfigError` for a line without counts, and for a text that stands in none or in several.
        """
        __tracebackhide__ = True
        file, text = listing(self.report, self.kernel, self.path)
        costs, rows = line_costs(self.report, file), dict(enumerate(text.split("\n"), 1))
        found = [
            number for number in costs if (line in rows.get(number, "") if isinstance(line, str) else line == number)
        ]
        if len(found) == 1:
            return costs[found[0]]
        where = "".join(f"\n  {number}: {rows.get(number, '').strip()}" for number in found or costs)
        raise ConfigError(
            f"{shown(line)} names {'several lines' if found else 'no line with instructions'} of {file}; "
            f"{'these' if found else 'those that have some'} are:{where}"
        )

    def assert_wavefronts(self, line: int | str, at_most: int) -> None:
        """Fail if a line takes more wavefronts of shared memory. line: as for `counts`."""
        __tracebackhide__ = True
        cost = self.counts(line)
        if cost.wavefronts > at_most:
            _fail(
                f"{line if isinstance(line, str) else f'line {line}'} takes {cost.wavefronts:,} wavefronts, where "
                f"{at_most:,} are allowed and {cost.ideal_wavefronts:,} would do without bank conflicts."
            )

    def assert_not_worse(self) -> None:
        """Fail if the launch takes more instructions, wavefronts or sectors than in the baseline file.

        The end of pytest's output names the launches that take less, so that the file can be written anew.
        """
        __tracebackhide__ = True
        worse, better = self.baseline.judge(self.name, self.report)
        if worse:
            _fail(f"{worse}. {WRITES}")
        if better:
            self.notes.append((LESS, better))


class Simulated:
    """What the fixture `simulated` gives: call it to launch a kernel. A file is compiled once in a session."""

    def __init__(self, request: pytest.FixtureRequest):
        self._compiler: str | None = request.config.getoption(COMPILER)
        self._config, self._folder, self._test = request.config, request.path.parent, request.node
        self._launches = 0

    def __call__(
        self,
        file: str | Path,
        kernel: str | None = None,
        grid: Extent = 1,
        block: Extent = 32,
        args: Sequence[Any] = (),
        *,
        arch: str = "sm_80",
        include: Sequence[str | Path] = (),
        defines: Mapping[str, Any] | None = None,
        std: str | None = None,
        using: str | None = None,
        **options: Any,
    ) -> SimulatedRun:
        """Launch a kernel of a .cu or .ptx file; arrays in `args` are changed in place.

        file: a path, from the folder of the test.   using: by default what --simulated-compiler says.   The other
        parameters are those of `gpu_simulator.simulate`, and so are the errors, which are shown without the
        simulator's own frames.
        """
        __tracebackhide__ = True
        path = self._folder / file
        folders = tuple(self._folder / folder for folder in include)
        macros = {name: str(value) for name, value in (defines or {}).items()}
        key = (path, kernel, arch, folders, tuple(macros.items()), std, using)
        compiled = self._config.stash.setdefault(COMPILED, {})
        self._launches += 1
        if key not in compiled:
            cache = Path(self._config.cache.mkdir("gpu_simulator")) if getattr(self._config, "cache", None) else None
            chosen = {"std": std, "using": using or self._compiler}
            compiled[key] = _plainly(kernel_file, path, kernel, arch, folders, macros, cache, **chosen)
        found: KernelFile = compiled[key]
        _plainly(check_dtypes, found.entry, found.text, args)
        given = args, options.pop("symbols", None)
        again = copy.deepcopy(given)

        def run(args: Sequence[Any], symbols: Any, **more: Any) -> Report:
            __tracebackhide__ = True
            every = {"observers": ["hazards"], **options, **more, "symbols": symbols}
            return _plainly(launch, found.program, found.entry, grid, block, args, **every)

        name = f"{self._test.nodeid}, launch {self._launches}: {source_name(found.entry)}"
        report, baseline, notes = run(*given), self._config.stash[BASELINE], self._test.user_properties
        late = lambda: run(*again, timing="late")  # noqa: E731
        return SimulatedRun(found, path, report, late, arrays_in(args), name, baseline, notes)


COMPILED = pytest.StashKey[dict[tuple, KernelFile]]()
BASELINE = pytest.StashKey[Baseline]()


def _plainly(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call the function; an error of the simulator is raised here, so that the frames below are not shown."""
    __tracebackhide__ = True
    try:
        return function(*args, **options)
    except SimulatorError as error:
        raise error.with_traceback(None) from None


def _serious(hazards: Sequence[Hazard]) -> list[Hazard]:
    return [one for one in hazards if one.severity != SUSPICIOUS]


def _as_numbers(array: np.ndarray) -> np.ndarray:
    """The array, with bfloat16 and other formats of ml_dtypes as float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" and array.dtype.names is None else array


def _fail(*lines: str) -> None:
    __tracebackhide__ = True
    pytest.fail("\n".join(lines))


# ---- What pytest calls ----


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the baseline and of the compiler."""
    group = parser.getgroup("gpu_simulator")
    group.addoption(WRITE, action="store_true", help="write the counts that assert_not_worse compares with")
    group.addoption(COMPILER, choices=COMPILERS, help="of .cu files; default: nvrtc where it is installed, or clang")
    parser.addini("simulated_baseline", "file with the counts of assert_not_worse", default="simulated_baseline.json")


def pytest_configure(config: pytest.Config) -> None:
    """Read the baseline."""
    writes = config.getoption(WRITE)
    if writes and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError(f"{WRITE} needs one process; leave -n out.")
    name = config.getini("simulated_baseline")
    try:
        config.stash[BASELINE] = Baseline(config.rootpath / name, writes, config.getoption(COMPILER))
    except ValueError as error:
        raise pytest.UsageError(f"{name} is no baseline: {error}.") from None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the baseline if that was asked for."""
    if session.config.stash[BASELINE].writes:
        session.config.stash[BASELINE].save()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which launches cost less than in the baseline."""
    reports = [one for found in terminalreporter.stats.values() for one in found if getattr(one, "when", "") == "call"]
    less = dict.fromkeys(said for one in reports for key, said in one.user_properties if key == LESS)
    if less:
        terminalreporter.section("launches that cost less than in the baseline")
        for said in (*less, WRITES):
            terminalreporter.line(said)


@pytest.fixture
def simulated(request: pytest.FixtureRequest) -> Simulated:
    """Launches kernels of files on the simulator: `simulated("k.cu", grid=4, block=256, args=[a, 1000])`."""
    return Simulated(request)
