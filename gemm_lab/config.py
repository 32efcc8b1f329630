"""Where the lab finds its data and keeps its files, and its own environment variables.

`gpu_runner.settings` has the other variables.

GEMM_LAB_BACKEND     auto (default), gpu or emulator
GEMM_LAB_MEMORY_MB   megabytes that an emulated launch may take (read by `emulator`); default: 3/4 of what is free
GEMM_LAB_SMS         multiprocessors for which persistent kernels make their grid, where `sms=` does not say; default:
                     those of the GPU
GEMM_LAB_COMMIT      the commit that recorded measurements name; default: what git says of the checkout
"""

from __future__ import annotations

import os
from pathlib import Path

from gpu_runner.settings import home_folder, made_folder
from gpu_simulator.errors import ConfigError, LabError

DATA_FOLDERS = ("kernels", "images", "results", "notebooks")
BACKENDS = ("auto", "gpu", "emulator")
MOST_SMS = 4096

PACKAGE = Path(__file__).resolve().parent


def data_dir(name: str) -> Path:
    """The folder of shipped data called `name`: kernels, images, results or notebooks.

    A wheel carries them in `gemm_lab/data`; a checkout has them beside `gemm_lab`. It has to look like a
    checkout, so that a stray `results` folder next to an installed package is not taken for ours. Raises
    `ConfigError` for another name and `LabError` if the folder is in neither place.
    """
    if name not in DATA_FOLDERS:
        raise ConfigError(f"There is no data folder {name!r}; choose one of {', '.join(DATA_FOLDERS)}.")
    root = PACKAGE.parent
    installed, checkout = PACKAGE / "data" / name, root / name
    if installed.is_dir():
        return installed
    if checkout.is_dir() and ((root / "pyproject.toml").is_file() or (root / ".git").exists()):
        return checkout
    raise LabError(
        f"The folder {name!r} is missing: it is neither in the installed package nor beside it. "
        "Install gemm_lab again, or work in a full checkout of the repository."
    )


def state_dir() -> Path:
    """The folder for what a learner wants to keep (predictions, solved exercises), made if needed."""
    return made_folder(home_folder("XDG_STATE_HOME", ".local/state"), "XDG_STATE_HOME")


def backend() -> str:
    """GEMM_LAB_BACKEND: "auto", "gpu" or "emulator"."""
    chosen = os.environ.get("GEMM_LAB_BACKEND", "").strip().lower() or "auto"
    if chosen not in BACKENDS:
        raise ConfigError(f"GEMM_LAB_BACKEND is {chosen!r}; set it to auto, gpu or emulator.")
    return chosen


def sms(asked: int | None = None) -> int | None:
    """Multiprocessors, 1 to 4096: `asked`, else what GEMM_LAB_SMS says; None for those of the GPU."""
    if asked is not None:
        if not 0 < asked <= MOST_SMS:
            raise ConfigError(f"sms is a number of multiprocessors from 1 to {MOST_SMS}, not {asked}.")
        return asked
    text = os.environ.get("GEMM_LAB_SMS", "").strip()
    if text and (not text.isdecimal() or not 0 < int(text) <= MOST_SMS):
        raise ConfigError(f"GEMM_LAB_SMS is {text!r}; set it to a number of multiprocessors such as 4.")
    return int(text) if text else None
