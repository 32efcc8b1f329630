"""The lab's folders, and its environment variables.

`gpu_runner.settings` has the variables of the GPU, and `gpu_simulator.memory_limit` that of a launch's memory on the
simulator. Those of the lab are:

GEMM_LAB_CACHE       folder for compiled kernels; default: `gemm_lab` in the user's cache folder, or a temporary one
GEMM_LAB_BACKEND     auto (default), gpu or simulator
GEMM_LAB_SMS         multiprocessors for the grid of persistent kernels, if `sms=` is not given; default: those of the
                     GPU
GEMM_LAB_COMMIT      the commit to store in recorded measurements (read by `measure.benchmark`); default: the checkout's
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from gemm_results.data_folders import DOCUMENTS as DOCUMENTS
from gemm_results.data_folders import data_dir as data_dir
from gpu_simulator.errors import ConfigError

BACKENDS = ("auto", "gpu", "simulator")
MOST_SMS = 4096
# Where Linux keeps a user's folders, and where release 1.0 kept them on every system.
BEFORE = {"cache": ".cache", "state": ".local/state"}

PACKAGE = Path(__file__).resolve().parent


def cache_dir() -> Path:
    """The folder for compiled kernels, created if it does not exist. It can be deleted at any time.

    Where the user's own cache folder cannot be written, it is a temporary one, which ends with this process, and a
    sentence says so. Raises `ConfigError` if GEMM_LAB_CACHE names a folder that cannot be made.
    """
    if chosen := os.environ.get("GEMM_LAB_CACHE"):
        return made_folder(Path(chosen), "GEMM_LAB_CACHE")
    try:
        folder = made_folder(home_folder("XDG_CACHE_HOME", "cache"), "XDG_CACHE_HOME")
        if os.access(folder, os.W_OK):
            return folder
        reason = f"The folder {folder} cannot be written to."
    except ConfigError as error:
        reason = str(error).partition(";")[0] + "."
    return Path(_temporary_cache(reason).name)


@lru_cache(maxsize=1)
def _temporary_cache(reason: str) -> tempfile.TemporaryDirectory:
    """A cache for this process; said once, when it is made."""
    folder = tempfile.TemporaryDirectory(prefix="gemm_lab_cache_", ignore_cleanup_errors=True)
    print(
        f"{reason} Compiled kernels are kept in {folder.name} until this session ends; "
        "GEMM_LAB_CACHE can name a folder that stays.",
        file=sys.stderr,
    )
    return folder


def state_dir() -> Path:
    """The folder of the learner's predictions and solved exercises; created if necessary."""
    return made_folder(home_folder("XDG_STATE_HOME", "state"), "XDG_STATE_HOME")


def names_a_server() -> bool:
    """Whether GEMM_LAB_SERVER is set, or its former name, about which `gpu_runner.settings` has a sentence."""
    return any(os.environ.get(name, "").strip() for name in ("GEMM_LAB_SERVER", "GEMM_LAB_SCHEDULER"))


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


def home_folder(variable: str, kind: str) -> Path:
    """The folder gemm_lab below what `variable` of the environment says, or else the user's own folder of that kind.

    kind: a key of `BEFORE`. A folder that an earlier release made stays in use.
    """
    base = os.environ.get(variable)
    if base:
        return Path(base) / "gemm_lab"
    try:
        before = Path.home() / BEFORE[kind] / "gemm_lab"
    except RuntimeError:
        raise ConfigError(f"The home folder is not known; set {variable} to a folder that you can write to.") from None
    if sys.platform not in ("win32", "darwin") or before.is_dir():
        return before
    import platformdirs

    return Path(getattr(platformdirs.PlatformDirs("gemm_lab", appauthor=False), f"user_{kind}_dir"))


def made_folder(folder: Path, variable: str) -> Path:
    """The folder, ~ filled in, made with its parents; the `ConfigError` of one that cannot be made names `variable`."""
    try:
        folder = folder.expanduser()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError, RuntimeError) as error:  # a RuntimeError: "~name" of a user who has no home folder
        raise ConfigError(
            f"The folder {folder} cannot be made ({getattr(error, 'strerror', None) or str(error).rstrip('.')}); "
            f"set {variable} to a folder that you can write to."
        ) from error
    return folder
