"""`python -m tools.recording ablations`: each idea of a rung left out in turn, timed beside the whole rung."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from gemm_lab.lab.actions.ablating import path_for, rung_of, time
from gemm_lab.lab.here import Here
from gemm_results.errors import LabError
from gemm_results.results import append, append_raw, raw_path
from tools.recording.speeds import plans


def record_ablations(
    where: Here,
    names: Iterable[str],
    sizes: Iterable[int],
    regimes: Iterable[str],
    rounds: int | None = None,
    into: Path | None = None,
    say: Callable[[str], None] = print,
) -> Path:
    """Time every rung that has ablations, of these ladders or of all that run here; returns the file of the rows.

    The rows of a run are written when it is done. Raises `LabError` without a GPU.
    """
    if not where.usable or not where.arch:
        raise LabError(f"Nothing can be measured here: {where.reason}")
    path = path_for(where.present.gpu.key if where.present.gpu else where.present.name)
    path = into / path.name if into else path
    for plan in plans(names, where.arch):
        here, able = plan.ladder, {kernel.name for kernel in plan.kernels}
        for name in dict.fromkeys(idea.rung for idea in here.spec.ideas):
            if f"{here.name}/{name}" not in able:
                continue
            rung, ideas = rung_of(here.spec, name)
            for regime in regimes:
                for n in sizes:
                    rows = time(rung, ideas, n, regime, rounds)
                    append(rows, path)
                    append_raw(rows, raw_path(path))
                    say(f"{rung.name}, {n}, {regime}: {len(rows)} rows")
    return path
