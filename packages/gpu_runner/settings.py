"""Reads the environment variables that control how kernels run on a GPU, and names the folders that programs share.

GEMM_LAB_CACHE       folder for compiled kernels; default: `gemm_lab` in the user's cache folder, or a temporary one
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
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from gpu_simulator.errors import ConfigError

DEFAULT_IDLE_S = 600.0


BUSY = ("wait", "simulator")

# Where Linux keeps a user's folders, and where release 1.0 kept them on every system.
BEFORE = {"cache": ".cache", "state": ".local/state"}


DEFAULT_WAIT_S = 300.0


def cache_dir() -> Path:
    """The folder for compiled kernels, created if it does not exist. It can be deleted at any time.

    Where the user's own cache folder cannot be written, it is a temporary one, which ends with this process, and a
    sentence says so. Raises `ConfigError` if GEMM_LAB_CACHE names a folder that cannot be made.
    """
    if chosen := os.environ.get("GEMM_LAB_CACHE"):
        return made_folder(path_of(chosen, "GEMM_LAB_CACHE"), "GEMM_LAB_CACHE")
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


def path_of(text: str, variable: str) -> Path:
    """The path that `variable` of the environment holds, ~ and ~user filled in; `ConfigError` where that cannot be."""
    try:
        return Path(text).expanduser()
    except RuntimeError:  # "~name" of a user who has no home folder
        raise ConfigError(
            f"{variable} is {text!r}, and nobody here has that home folder; set it to a folder that you can write to."
        ) from None


def made_folder(folder: Path, variable: str) -> Path:
    """The folder itself, made with its parents; the `ConfigError` of one that cannot be made names `variable`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The folder {folder} cannot be made ({getattr(error, 'strerror', error)}); "
            f"set {variable} to a folder that you can write to."
        ) from error
    return folder
