"""Decides where a kernel runs: on the GPU or on the simulator."""

from __future__ import annotations

import sys

from gemm_lab.config import BACKENDS
from gemm_lab.config import backend as chosen_backend
from gemm_lab.lab.here import Here, here
from gemm_lab.lab.launchable import Launchable
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError


def resolve_backend(wanted: str | None, timing: bool = False, machine: Here | None = None) -> str:
    """The backend to use: "gpu" or "simulator".

    `wanted` is "auto", "gpu" or "simulator"; None means the setting GEMM_LAB_BACKEND. With "auto" this is the GPU if
    one can be used. If another program is using the GPU and GEMM_LAB_BUSY is "simulator", "auto" gives the simulator,
    except for `timing`, which needs the GPU. machine: where the kernel would run, by default what `here` finds. Raises
    `ConfigError` for another name, and `LabError` if "gpu" is wanted and no GPU can be used.
    """
    wanted = wanted or chosen_backend()
    if wanted not in BACKENDS:
        raise ConfigError(f"There is no backend “{wanted}”; choose {', '.join(BACKENDS)}.")
    if wanted == "simulator":
        return "simulator"
    machine = machine or here()
    if not machine.usable:
        if wanted == "gpu":
            raise LabError(f"The GPU cannot be used: {machine.reason}")
        return "simulator"
    import gpu_runner as device
    from gpu_runner.settings import busy

    others = device.holder() if wanted == "auto" and busy() == "simulator" and not timing else ""
    if not others:
        return "gpu"
    print(f"{others}; so this runs on the simulator (GEMM_LAB_BUSY).", file=sys.stderr)
    return "simulator"


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
