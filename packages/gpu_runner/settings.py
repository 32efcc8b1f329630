"""Reads the environment variables that control how kernels run on a GPU, and names the folders that programs share.

GEMM_LAB_CACHE       folder for what is compiled, here the libraries of baselines; default: that of the lab
GEMM_LAB_TIMEOUT_S   seconds after which a running kernel counts as hanging; default: 6 plus an allowance for its size
GEMM_LAB_WAIT_S      seconds to wait for a GPU that other programs are using; default 300
GEMM_LAB_BUSY        what a run does if others are using the GPU: wait (default), or simulator to run on the simulator
GEMM_LAB_LOCKS       folder of the lock files for taking turns; default: `gemm_lab-locks` in the temporary folder
GEMM_LAB_IDLE_S      seconds without a request after which a worker ends and frees its GPU memory; default 600
GEMM_LAB_SERVER      address of a server, such as https://gpu-server:8786 (`gemm-lab serve`); kernels then run there
GEMM_LAB_TOKEN       the token that identifies you to that server
GEMM_LAB_CERTIFICATE file with the certificate of that server, if the system does not trust whoever signed it
"""

from __future__ import annotations

import importlib.metadata
import os
import shlex
import tempfile
from pathlib import Path

from gpu_simulator.errors import ConfigError

DEFAULT_IDLE_S = 600.0


BUSY = ("wait", "simulator")

DEFAULT_WAIT_S = 300.0


def libraries_dir() -> Path:
    """The folder of the libraries that baselines are built into; it need not exist, and can be deleted at any time."""
    chosen = os.environ.get("GEMM_LAB_CACHE")
    usual = os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "gemm_lab")
    return path_of(chosen or usual, "GEMM_LAB_CACHE") / "libraries"


def timeout_s(default: float) -> float:
    """GEMM_LAB_TIMEOUT_S in seconds, more than 0; `default` if it is not set. Raises `ConfigError`."""
    return _seconds("GEMM_LAB_TIMEOUT_S", default)


def wait_s() -> float:
    """GEMM_LAB_WAIT_S in seconds, more than 0. Raises `ConfigError`."""
    return _seconds("GEMM_LAB_WAIT_S", DEFAULT_WAIT_S)


def idle_s() -> float:
    """GEMM_LAB_IDLE_S in seconds, more than 0. Raises `ConfigError`."""
    return _seconds("GEMM_LAB_IDLE_S", DEFAULT_IDLE_S)


def busy() -> str:
    """GEMM_LAB_BUSY: "wait" or "simulator". Raises `ConfigError`."""
    chosen = os.environ.get("GEMM_LAB_BUSY", "").strip().lower() or "wait"
    if chosen not in BUSY:
        raise ConfigError(f"GEMM_LAB_BUSY is {chosen!r}; set it to wait or simulator.")
    return chosen


def server() -> str:
    """GEMM_LAB_SERVER: the address of a server, or "" to work on this machine. Raises `ConfigError`."""
    address = os.environ.get("GEMM_LAB_SERVER", "").strip().rstrip("/")
    old = os.environ.get("GEMM_LAB_SCHEDULER", "").strip()
    if old and not address:
        raise ConfigError(
            f"GEMM_LAB_SCHEDULER is {old!r}, which is no longer used. Set GEMM_LAB_SERVER to the address "
            "that `gemm-lab serve` prints, such as http://gpu-server:8786, and GEMM_LAB_TOKEN to your "
            "token."
        )
    if address and not address.startswith(("http://", "https://")):
        raise ConfigError(
            f"GEMM_LAB_SERVER is {address!r}; set it to the address that `gemm-lab serve` prints, such "
            "as http://gpu-server:8786."
        )
    return address


def token() -> str:
    """GEMM_LAB_TOKEN, which identifies the user to a server; "" if it is not set. Raises `ConfigError`."""
    found = os.environ.get("GEMM_LAB_TOKEN", "").strip()
    if not found.isascii() or not found.isprintable() or " " in found:
        raise ConfigError("GEMM_LAB_TOKEN is no token of a server; copy the one that your teacher gave you.")
    return found


def certificate() -> Path | None:
    """GEMM_LAB_CERTIFICATE: the file with which the server's certificate is checked; None to use the system's."""
    chosen = os.environ.get("GEMM_LAB_CERTIFICATE", "").strip()
    return path_of(chosen, "GEMM_LAB_CERTIFICATE") if chosen else None


def version() -> str:
    """The installed version of gemm_lab; "unknown" in a copy that is not installed."""
    try:
        return importlib.metadata.version("gemm_lab")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def install_command(extra: str) -> str:
    """What to type for the packages of an extra of gemm_lab, such as "torch".

    It names the packages themselves, because no index has gemm_lab, of which they are an extra.
    """
    try:
        known = importlib.metadata.requires("gemm_lab") or []
    except importlib.metadata.PackageNotFoundError:  # a copy that is not installed
        known = []
    mark = f"extra == '{extra}'"
    found = [text.partition(";")[0].strip() for text in known if mark in text.replace('"', "'")]
    return f"pip install {shlex.join(found)}" if found else f"pip install --editable '.[{extra}]'"


def lock_dir() -> Path:
    """The folder of the GPUs' queues, which all users of the machine share. It is created at its first use."""
    chosen = os.environ.get("GEMM_LAB_LOCKS")
    return path_of(chosen, "GEMM_LAB_LOCKS") if chosen else Path(tempfile.gettempdir()) / "gemm_lab-locks"


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


def path_of(text: str, variable: str) -> Path:
    """The path that `variable` of the environment holds, ~ and ~user filled in; `ConfigError` where that cannot be."""
    try:
        return Path(text).expanduser()
    except RuntimeError:  # "~name" of a user who has no home folder
        raise ConfigError(
            f"{variable} is {text!r}, and nobody here has that home folder; set it to a folder that you can write to."
        ) from None
