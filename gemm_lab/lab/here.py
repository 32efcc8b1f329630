"""Says in one line which GPU kernels run on, or why they run on the simulator."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape

from gemm_lab.config import names_a_server
from gemm_look import theme
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
