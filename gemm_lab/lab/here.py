"""Where kernels run: the GPU, in one line, or why it is the simulator; and which of the two is asked for."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape

from gemm_lab.config import BACKENDS, names_a_server
from gemm_lab.config import backend as chosen_backend
from gemm_look import theme
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware import presence
from gpu_simulator.hardware.data_sheets import Gpu, Present, gpu

RECORDED_ON = "h200"  # the GPU whose recorded runs are shown if there is no GPU


@dataclass(frozen=True)
class Here:
    """The GPU that kernels run on; if it cannot be used, `usable` is False and the sentence `reason` says why.

    `arch` and `gpu` are None if no GPU can be used; kernels are then compiled for their ladder's reference GPU.
    """

    present: Present | None
    usable: bool
    reason: str
    server: str = ""  # the address of the GPU server, if one is used

    @property
    def arch(self) -> str | None:
        return self.present.arch if self.usable and self.present else None

    @property
    def gpu(self) -> Gpu | None:
        return self.present.gpu if self.usable and self.present else None

    def __str__(self) -> str:
        p = self.present
        if self.usable and p:
            return (
                f"{p.name} ({p.arch}, {p.sms} SMs, {p.memory_gb:.0f} GB), driver for CUDA "
                f"{p.driver[0]}.{p.driver[1]}: kernels run and are timed "
                f"{f'there, on the server at {self.server}' if self.server else 'here'}."
            )
        recorded = gpu(RECORDED_ON).name
        where = f"there, at {self.server}" if self.server else "here"
        return (
            f"{self.reason} Kernels run on the simulator {where}, which checks and counts; "
            f"speeds shown were recorded on one {recorded}."
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        edge = f"4px solid {theme.GOOD if self.usable else theme.NOTE}"
        return theme.tag("div", "edge", escape(str(self)), border_left=edge)


def in_notebook() -> bool:
    """Whether this process runs the cells of a notebook, and no script, test or terminal."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


def here() -> Here:
    """What is known of the machine that kernels run on: this one, or the server that GEMM_LAB_SERVER names."""
    if not names_a_server() and (why := presence.why_none()):
        return Here(None, False, why)
    import gpu_runner as device  # only where there is a GPU or a server: the simulator needs none of it
    from gpu_runner import settings

    why = device.why_not()
    return Here(device.present(), not why, why, settings.server())


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
