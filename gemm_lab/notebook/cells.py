"""`%%kernel`: compiles, launches and checks the CUDA code of a cell, and assigns the kernel to a variable.

    %%kernel t4/03_swizzled --region layout --as mine
    …the text of that region…

An error of the lab is shown as one block, without a Python traceback. If the code does not compile, the variable keeps
its old value; if it has none, it gets one that says in words that the cell did not compile. A name without a value that
an earlier cell of the notebook gives one, such as that of a puzzle, is answered with that cell.
"""

from __future__ import annotations

import argparse
import re
import shlex
from dataclasses import dataclass, field
from html import escape
from keyword import iskeyword
from types import ModuleType

from gemm_lab.cards.error_card import error_page
from gemm_lab.cards.kernel_card import edited_source
from gemm_lab.lab import Kernel, Run, kernel
from gemm_lab.lab.actions import running
from gemm_lab.lab.kernel import DEFAULT_N
from gemm_lab.notebook import unbound
from gemm_lab.notebook.judges.cuda_tokens import blanked, tokens, unmatched_brace
from gemm_lab.notebook.later_exercises import hidden_lines, later_than_cell, listing_without
from gemm_lab.notebook.remembered.solved import solved_so_far
from gemm_lab.source_text import listed, parse_settings
from gemm_look import theme
from gemm_look.card import card, mark
from gemm_results.errors import LabError
from gpu_simulator.compiler import CompileError, Diagnostic
from gpu_simulator.errors import ConfigError, NotHere, SimulatorError


class WrongResult(LabError):
    """The kernel ran and its result is wrong; `run` has the verdict."""

    is_card = True  # its HTML has a frame already

    def __init__(self, run: Run):
        self.run = run
        super().__init__(f"{run.kernel.label} is wrong: {run.message}")

    def _repr_html_(self) -> str:
        return self.run._repr_html_()


@dataclass(frozen=True)
class Line:
    """The options of one `%%kernel` line."""

    name: str
    region: str | None = None
    alias: str | None = None
    n: int = DEFAULT_N
    settings: dict[str, int] = field(default_factory=dict)
    run: bool = True
    exercise: bool = False
    timed: bool = True
    after: str | None = None

    @property
    def folded(self) -> dict[str, str]:
        """{region: exercise} if the region's text is not shown yet, because this exercise is not solved; else {}."""
        return {self.region: self.after} if self.region and self.after and self.after not in solved_so_far() else {}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise ConfigError(
            f"%%kernel: {message}. It is used as: %%kernel NAME [--region REGION] [--as VARIABLE] "
            "[-n SIZE] [--set BLOCK_K=32] [--no-run] [--no-speed] [--after EXERCISE]"
        )


def parse_line(line: str) -> Line:
    """The options of a `%%kernel` line. Raises `ConfigError` if it is wrong; the message says how it is written."""
    parser = _Parser(prog="%%kernel", add_help=False)
    parser.add_argument("name")
    parser.add_argument("--region")
    parser.add_argument("--as", dest="alias")
    parser.add_argument("-n", type=int, default=DEFAULT_N)
    parser.add_argument("--set", dest="settings", action="append", default=[])
    parser.add_argument("--no-run", dest="run", action="store_false")
    parser.add_argument("--exercise", action="store_true")
    parser.add_argument("--no-speed", dest="timed", action="store_false")  # where it answers a later question
    parser.add_argument("--after")  # the rung's own text, which is shown when this exercise is solved
    if strange := re.search("[“”„‘’–—−\u00a0]", line):
        raise ConfigError(f"%%kernel: {strange[0]!r} comes from a word processor; type the line with \", ' and - anew.")
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise ConfigError(f"%%kernel: {error}.") from None
    if not words:
        raise ConfigError("%%kernel needs the name of a kernel, such as t4/03_swizzled.")
    options = vars(parser.parse_args(words))
    alias = options["alias"]
    if alias and (not alias.isidentifier() or iskeyword(alias)):
        raise ConfigError(f"“{alias}” cannot be a variable; choose a name such as mine.")
    return Line(**options | {"settings": parse_settings(options["settings"])})


def kernel_of_cell(line: Line, text: str) -> Kernel:
    """The kernel that a cell describes. Line 1 of the cell is the magic, so the text starts at line 2."""
    base = kernel(line.name, **line.settings)
    if line.region is None:
        return base.rewrite(text, first_line=2, alias=line.alias)
    if line.region not in base.spec.regions:
        raise ConfigError(f"{base.name} has no region “{line.region}”; it has {listed(base.spec.regions)}.")
    if line.folded:
        return base
    if line.after and not blanked(text).strip():
        text = base.spec.regions[line.region].text
    return base.edit(first_line=2, alias=line.alias, **{line.region: text.rstrip("\n")})


@dataclass(frozen=True)
class Uncompiled:
    """The value of a cell's variable if the cell has never compiled. Whatever it is asked for, it says so.

    It is no kernel, so that the check of an exercise refuses it.
    """

    name: str

    @property
    def says(self) -> str:
        return (
            f"The cell of “{self.name}” did not compile, so there is no kernel yet. Mend what the compiler names below "
            "that cell, run the cell again, and then this one."
        )

    def __getattr__(self, asked: str):
        if asked.startswith("_"):  # what a notebook and Python itself ask every object for
            raise AttributeError(asked)
        raise ConfigError(self.says)

    def __repr__(self) -> str:
        return self.says

    def _repr_html_(self) -> str:
        return card(f"{mark(False)} {escape(self.says)}", theme.BAD)


# Names whose last cell did not compile. Such a name still stands for the kernel of an earlier cell, if there was one.
superseded: set[str] = set()


def run_cell(line_text: str, cell: str, namespace: dict) -> Run | Kernel:
    """Compile, run and check a cell, and assign its kernel to its variable in `namespace`.

    Returns what the cell displays: the `Run`, or the `Kernel` with --no-run. Raises `ConfigError`, `CompileError`, a
    launch error or `WrongResult`. The variable is assigned as soon as the kernel compiles. If the cell does not compile
    and there is no such variable yet, it becomes an `Uncompiled`.
    """
    line = parse_line(line_text)
    if isinstance(namespace.get(line.alias or ""), ModuleType):
        raise ConfigError(f"“{line.alias}” is a module here, which later cells need; choose a name such as mine.")
    made = kernel_of_cell(line, cell)
    try:
        _compile(made, line, cell)
    except CompileError:
        if line.alias:
            namespace.setdefault(line.alias, Uncompiled(line.alias))
            superseded.add(line.alias)
        raise
    if line.alias:
        namespace[line.alias] = made
        superseded.discard(line.alias)
    if not line.run:
        return made
    # What was found here when the cell's kernel was made is true of its run. The magic adds the prediction.
    run = running.run(made, line.n, None, None, running.Asked(timed=line.timed, predict=False))
    if run.passed is False:
        raise WrongResult(run)
    return run


def _compile(made: Kernel, line: Line, cell: str) -> None:
    """Compile. Of the compiler's errors only those in the cell are kept, since they also cause errors elsewhere."""
    try:
        made.compile()
    except CompileError as error:
        own = [note for note in error.diagnostics if note.file == "cell"]
        if not any(note.severity == "error" for note in own):
            own = _of_the_text(made, line, cell)
        if own:
            raise CompileError(error.name, own) from None
        raise


def _of_the_text(made: Kernel, line: Line, cell: str) -> list[Diagnostic]:
    """Errors in the text of a cell (no code, an unmatched brace), for when the compiler reports only lines after it."""
    code = blanked(cell)
    if not code.strip():
        known = f'regions["{line.region}"]' if line.region else "source"
        says = f'there is no code in this cell; print(lab.kernel("{made.name}").{known}) shows what the file has there'
        return [Diagnostic("cell", 2, "error", says)]
    if found := unmatched_brace(tokens(cell)):
        offset, count = found
        number = code.count("\n", 0, offset)
        says = "this { is not closed" if count else "this } closes a block that does not begin in this cell"
        return [Diagnostic("cell", 2 + number, "error", says, cell.split("\n")[number].strip())]
    return []


def register(ipython) -> None:
    """Add `%%kernel` to an IPython session, and show the lab's errors as one block."""
    from IPython.display import display

    def magic(line: str, cell: str) -> None:
        shown = run_cell(line, cell, ipython.user_ns)
        verdict = display(_bundle(shown, line), raw=True, display_id=True)
        if isinstance(shown, Run) and parse_line(line).timed and running.predicts_here(shown.kernel):
            verdict.update(_bundle(running.with_prediction(shown), line), raw=True)

    magic.__doc__ = __doc__
    ipython.register_magic_function(magic, magic_kind="cell", magic_name="kernel")
    ipython.set_custom_exc((SimulatorError, NameError), _show_error)


def _bundle(shown: Run | Kernel, line: str) -> dict[str, str]:
    """What a cell displays, as the formats of Jupyter's messages."""
    return {"text/html": page_of(shown, line) + below(shown, line), "text/plain": repr(shown)}


def below(shown: Run | Kernel, line_text: str) -> str:
    """HTML below the card of a run: the whole kernel, folded, with the cell's region lit.

    Regions that an exercise further down asks for are left out. It is "" for the cell of an exercise, whose card above
    the cell has it, and for a kernel that does not run, whose own card has it.
    """
    if parse_line(line_text).exercise or not isinstance(shown, Run) or not shown.kernel.edits:
        return ""
    made = shown.kernel
    lines = listing_without(made, later_than_cell(line_text, made.name))
    return card(edited_source(made.spec.file, lines, list(made.edits)))


def page_of(shown: Run | Kernel, line_text: str) -> str:
    """The card of what a cell made, without the lines that an exercise asks for which is further down or not solved."""
    folded = parse_line(line_text).folded
    if isinstance(shown, Run) and (shown.kernel.edits or folded):
        later = folded or later_than_cell(line_text, shown.kernel.name)
        return shown.page(frozenset(hidden_lines(shown.kernel, later)))
    if isinstance(shown, Kernel) and parse_line(line_text).exercise:
        return card(f"{escape(shown.label)} compiles. It has not run yet; the check below runs it.", theme.NOTE)
    return shown._repr_html_()


def _show_error(shell, etype, error, traceback, tb_offset=None):
    """Display one block instead of a traceback. The returned lines are the traceback, so the cell counts as failed.

    A NameError that `unbound` knows nothing about is shown as Python does it. `NotHere` is shown as a note,
    because the learner did nothing wrong.
    """
    from IPython.display import display

    ran = [text for text in shell.history_manager.input_hist_raw if text.strip()] if shell is not None else [""]
    if isinstance(error, NameError):
        named = re.match(r"name '(\w+)' is not defined", str(error)) if etype is NameError and ran else None
        if named and (reason := unbound.without(named[1], ran)):
            error = NotHere(reason)
        elif named and (says := unbound.sentence(named[1], ran)):
            error = ConfigError(says)
        else:
            shell.showtraceback((etype, error, traceback), tb_offset=tb_offset, running_compiled_code=True)
            return []
    if isinstance(error, NotHere):
        unbound.STOPPED["".join(ran[-1:]).strip()] = str(error)
        note = theme.tag("div", "edge", escape(str(error)), border_left=f"4px solid {theme.NOTE}")
        display({"text/html": note, "text/plain": str(error)}, raw=True)
        return [str(error)]
    display({"text/html": error_page(error), "text/plain": f"{etype.__name__}: {error}"}, raw=True)
    return [f"{etype.__name__}: {error}"]
