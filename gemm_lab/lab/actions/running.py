"""Runs a Kernel once: compiles it, launches it, checks the result, and times it or counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from gemm_lab.config import backend as chosen_backend
from gemm_lab.lab import measuring, on_simulator
from gemm_lab.lab.actions.source import require_form
from gemm_lab.lab.here import in_notebook, resolve_backend
from gemm_lab.lab.launchable import Launchable
from gemm_lab.lab.run import Run
from gemm_results.errors import LabError
from gpu_simulator.compiler import Compiled
from gpu_simulator.errors import ConfigError, SimulatorError


class Asked(NamedTuple):
    """The options of `Kernel.run`, which documents them."""

    backend: str | None = None
    seed: int = 0
    timed: bool = True
    counted: bool = True
    sure: bool = False
    sms: int | None = None
    predict: bool | None = None
    exact: bool | None = None


def run(kernel: Launchable, n: int, m: int | None, k: int | None, asked: Asked) -> Run:
    """Implements `Kernel.run`."""
    found = _checked(kernel, n, m, k, asked)
    wanted = asked.predict
    if wanted is None:  # a named backend asks for counts, as judges do, and not for a speed
        wanted = asked.backend is None and asked.timed and predicts_here(kernel)
    return with_prediction(found) if wanted else found


def predicts_here(kernel: Launchable) -> bool:
    """Whether a run has a predicted speed if nobody says otherwise: in a notebook without a GPU."""
    return in_notebook() and not kernel.machine.usable


def with_prediction(run: Run) -> Run:
    """The run with a predicted speed, or with the reason for having none. A wrong result has neither."""
    from gemm_lab.lab.actions.predicting import expected

    return replace(run, predicted=expected(run.kernel)) if run.passed else run


def _checked(kernel: Launchable, n: int, m: int | None, k: int | None, asked: Asked) -> Run:
    spec, seed, sms = kernel.spec, asked.seed, asked.sms
    if spec.ceiling:
        raise LabError(
            f"{kernel.name} multiplies no matrices: it repeats one instruction in registers. The bench of "
            "a ladder times it."
        )
    m, k = n if m is None else m, n if k is None else k
    spec.require_size(kernel.config, m, n, k)
    if seed < 0:
        raise ConfigError(f"seed has to be at least 0, not {seed}.")
    where = backend_of(kernel, asked.backend)
    # The simulator's counts are those for the ladder's reference GPU, whichever GPU is here.
    compiled = kernel.compile() if where == "gpu" else kernel.compile_as_taught()
    require_form(kernel, compiled)
    facts = (kernel, where, m, n, k, compiled)
    if where == "simulator":
        on_simulator.require_patience(kernel, compiled, m, n, k, asked.sure, sms)
        verdicts, report = on_simulator.check_on_simulator(kernel, compiled, m, n, k, seed, sms, asked.exact)
        message, recorded = _message(verdicts), _recorded(kernel, n)
        return Run(*facts, all(verdicts), message, report=report, recorded=recorded, output=report.output, sms=sms)
    return _on_gpu(facts, asked)


def backend_of(kernel: Launchable, wanted: str | None) -> str:
    """The backend for one kernel: as `resolve_backend`, but never a GPU that the kernel is not written for.

    Such a kernel runs on the simulator. If "gpu" is wanted explicitly, a `ConfigError` is raised instead.
    """
    where, arch = resolve_backend(wanted, machine=kernel.machine), kernel.machine.arch
    if where != "gpu" or arch is None or kernel.spec.written_for(arch):
        return where
    if "gpu" in (wanted, chosen_backend()):
        raise ConfigError(f'{kernel.name} {kernel.spec.not_for(arch)}; the simulator runs it: backend="simulator".')
    return "simulator"


def _on_gpu(facts: tuple[Launchable, str, int, int, int, Compiled], asked: Asked) -> Run:
    kernel, _, m, n, k, compiled = facts
    seed, sms = asked.seed, asked.sms
    verdicts = measuring.check_kernel(kernel, compiled, m, n, k, seed, sms=sms)
    passed, output = all(verdicts), measuring.printed()
    more: dict[str, Any] = measuring.quick_speed(kernel, compiled, m, n, k, sms) if passed and asked.timed else {}
    if passed and asked.counted:
        more["small"] = on_simulator.count_small(kernel, compiled, m, n, k, sms)
    return Run(*facts, passed, _message(verdicts), output=output, sms=sms, **more)


def _message(verdicts: list) -> str:
    return "; ".join(dict.fromkeys(verdict.message for verdict in verdicts)) if all(verdicts) else verdicts[-1].message


def _recorded(kernel: Launchable, n: int) -> Any:
    """The recorded sustained row at the size nearest to n, or to 2048 if n is smaller.

    None if the kernel is edited, if its configuration is not the default one, or if there is no such row; a sentence if
    the file of the rows cannot be read, which says nothing about this run.
    """
    if kernel.edited or kernel.config != kernel.spec.configure():
        return None
    try:
        return measuring.recorded_row(kernel.name, max(n, measuring.SPEED_EDGE))
    except SimulatorError as error:
        return f"No recorded speed is shown: {error}"
