"""Where the lab finds its data and keeps its files, and the environment variables that it reads.

GEMM_LAB_CACHE       folder for compiled kernels; default: `gemm_lab` in the user's cache folder
GEMM_LAB_BACKEND     auto (default), gpu or emulator
GEMM_LAB_TIMEOUT_S   seconds after which a running kernel counts as hanging; default: 6 and what its size takes
GEMM_LAB_MEMORY_MB   megabytes that an emulated launch may take (read by `emulator`); default: 3/4 of what is free
GEMM_LAB_WAIT_S      seconds to wait for a GPU that others use; default 300
GEMM_LAB_BUSY        what a run does then: wait (default) or emulator
GEMM_LAB_LOCKS       folder by which the programs on a GPU take turns; default: `gemm_lab-locks` in the temporary folder
GEMM_LAB_IDLE_S      seconds after which the process that holds GPU memory for a notebook ends; default 600
GEMM_LAB_SERVER      address of a server that `gemm-lab serve` runs, such as https://gpu-server:8786: kernels run there
GEMM_LAB_TOKEN       the token by which that server knows you
GEMM_LAB_CERTIFICATE file with the certificate of that server, where the system does not know who signed it
GEMM_LAB_SMS         multiprocessors for which persistent kernels make their grid; default: those of the GPU
GEMM_LAB_COMMIT      the commit that recorded measurements name; default: what git says of the checkout
"""

from __future__ import annotations

import importlib.metadata
import os
import tempfile
from pathlib import Path

from gpu_simulator.errors import ConfigError, LabError

DATA_FOLDERS = ("kernels", "images", "results", "notebooks")
BACKENDS = ("auto", "gpu", "emulator")
BUSY = ("wait", "emulator")
MOST_SMS = 4096
DEFAULT_WAIT_S, DEFAULT_IDLE_S = 300.0, 600.0

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


def cache_dir() -> Path:
    """The folder for compiled kernels, made if needed. It can be deleted at any time."""
    chosen = os.environ.get("GEMM_LAB_CACHE")
    return _made(_path(chosen, "GEMM_LAB_CACHE") if chosen else _home("XDG_CACHE_HOME", ".cache"), "GEMM_LAB_CACHE")


def state_dir() -> Path:
    """The folder for what a learner wants to keep (predictions, solved exercises), made if needed."""
    return _made(_home("XDG_STATE_HOME", ".local/state"), "XDG_STATE_HOME")


def backend() -> str:
    """GEMM_LAB_BACKEND: "auto", "gpu" or "emulator"."""
    chosen = os.environ.get("GEMM_LAB_BACKEND", "").strip().lower() or "auto"
    if chosen not in BACKENDS:
        raise ConfigError(f"GEMM_LAB_BACKEND is {chosen!r}; set it to auto, gpu or emulator.")
    return chosen


def timeout_s(default: float) -> float:
    """GEMM_LAB_TIMEOUT_S: seconds, more than 0. default: 6 and what the launch's size takes, which its caller knows."""
    return _seconds("GEMM_LAB_TIMEOUT_S", default)


def wait_s() -> float:
    """GEMM_LAB_WAIT_S: seconds, more than 0."""
    return _seconds("GEMM_LAB_WAIT_S", DEFAULT_WAIT_S)


def idle_s() -> float:
    """GEMM_LAB_IDLE_S: seconds, more than 0."""
    return _seconds("GEMM_LAB_IDLE_S", DEFAULT_IDLE_S)


def busy() -> str:
    """GEMM_LAB_BUSY: "wait" or "emulator"."""
    chosen = os.environ.get("GEMM_LAB_BUSY", "").strip().lower() or "wait"
    if chosen not in BUSY:
        raise ConfigError(f"GEMM_LAB_BUSY is {chosen!r}; set it to wait or emulator.")
    return chosen


def server() -> str:
    """GEMM_LAB_SERVER: the address of a server, or "" to work on this machine."""
    address = os.environ.get("GEMM_LAB_SERVER", "").strip().rstrip("/")
    old = os.environ.get("GEMM_LAB_SCHEDULER", "").strip()
    if old and not address:
        raise ConfigError(f"GEMM_LAB_SCHEDULER is {old!r}, which is no longer used. Set GEMM_LAB_SERVER to the address "
                          "that `gemm-lab serve` prints, such as http://gpu-server:8786, and GEMM_LAB_TOKEN to your "
                          "token.")
    if address and not address.startswith(("http://", "https://")):
        raise ConfigError(f"GEMM_LAB_SERVER is {address!r}; set it to the address that `gemm-lab serve` prints, such "
                          "as http://gpu-server:8786.")
    return address


def token() -> str:
    """GEMM_LAB_TOKEN: by which a server knows who asks; "" without one."""
    found = os.environ.get("GEMM_LAB_TOKEN", "").strip()
    if not found.isascii() or not found.isprintable() or " " in found:
        raise ConfigError("GEMM_LAB_TOKEN is no token of a server; copy the one that your teacher gave you.")
    return found


def certificate() -> Path | None:
    """GEMM_LAB_CERTIFICATE: the file by which the server's own certificate is checked; None for the system's."""
    chosen = os.environ.get("GEMM_LAB_CERTIFICATE", "").strip()
    return _path(chosen, "GEMM_LAB_CERTIFICATE") if chosen else None


def sms() -> int | None:
    """GEMM_LAB_SMS: multiprocessors, 1 to 4096; None for those of the GPU."""
    text = os.environ.get("GEMM_LAB_SMS", "").strip()
    if text and (not text.isdecimal() or not 0 < int(text) <= MOST_SMS):
        raise ConfigError(f"GEMM_LAB_SMS is {text!r}; set it to a number of multiprocessors such as 4.")
    return int(text) if text else None


def version() -> str:
    """The installed version of gemm_lab; "unknown" in a copy that is not installed."""
    try:
        return importlib.metadata.version("gemm_lab")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def lock_dir() -> Path:
    """The folder of the GPUs' queues, which all users of a machine share; it is made when first used."""
    chosen = os.environ.get("GEMM_LAB_LOCKS")
    return _path(chosen, "GEMM_LAB_LOCKS") if chosen else Path(tempfile.gettempdir()) / "gemm_lab-locks"


def _seconds(variable: str, default: float) -> float:
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise ConfigError(f"{variable} is {text!r}; set it to a number of seconds such as {default:g}.")
    return seconds


def _home(variable: str, default: str) -> Path:
    base = os.environ.get(variable)
    if base:
        return Path(base) / "gemm_lab"
    try:
        return Path.home() / default / "gemm_lab"
    except RuntimeError:
        raise ConfigError(f"The home folder is not known; set {variable} to a folder that you can write to.") from None


def _path(text: str, variable: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # of somebody who has no home folder
        raise ConfigError(f"{variable} is {text!r}, and nobody here has that home folder; set it to a folder that you "
                          "can write to.") from None


def _made(folder: Path, variable: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The folder {folder} cannot be made ({getattr(error, 'strerror', error)}); "
            f"set {variable} to a folder that you can write to."
        ) from error
    return folder
