"""The lab's folders, and its environment variables.

`gpu_runner.settings` has the variables of the GPU. Those of the lab are:

GEMM_LAB_BACKEND     auto (default), gpu or simulator
GEMM_LAB_MEMORY_MB   megabytes that a simulated launch may use (read by `gpu_simulator`); default: 3/4 of the free
                     memory
GEMM_LAB_SMS         multiprocessors for the grid of persistent kernels, if `sms=` is not given; default: those of the
                     GPU
GEMM_LAB_COMMIT      the commit to store in recorded measurements (read by `measure.benchmark`); default: the checkout's
"""

from __future__ import annotations

import os
from pathlib import Path

from gemm_results.data_folders import DOCUMENTS as DOCUMENTS
from gemm_results.data_folders import data_dir as data_dir
from gpu_runner.settings import home_folder, made_folder
from gpu_simulator.errors import ConfigError

BACKENDS = ("auto", "gpu", "simulator")
MOST_SMS = 4096

PACKAGE = Path(__file__).resolve().parent


def state_dir() -> Path:
    """The folder of the learner's predictions and solved exercises; created if necessary."""
    return made_folder(home_folder("XDG_STATE_HOME", "state"), "XDG_STATE_HOME")


def backend() -> str:
    """The value of GEMM_LAB_BACKEND: "auto", "gpu" or "simulator". Raises `ConfigError` for another value."""
    chosen = os.environ.get("GEMM_LAB_BACKEND", "").strip().lower() or "auto"
    if chosen not in BACKENDS:
        raise ConfigError(f"GEMM_LAB_BACKEND is {chosen!r}; set it to auto, gpu or simulator.")
    return chosen


def sms(asked: int | None = None) -> int | None:
    """Number of multiprocessors, 1 to 4096: `asked`, else GEMM_LAB_SMS; None, for the GPU's number, if neither is set.

    Raises `ConfigError` for another number.
    """
    if asked is not None:
        if not 0 < asked <= MOST_SMS:
            raise ConfigError(f"sms is a number of multiprocessors from 1 to {MOST_SMS}, not {asked}.")
        return asked
    text = os.environ.get("GEMM_LAB_SMS", "").strip()
    if text and (not text.isdecimal() or not 0 < int(text) <= MOST_SMS):
        raise ConfigError(f"GEMM_LAB_SMS is {text!r}; set it to a number of multiprocessors such as 4.")
    return int(text) if text else None
