"""Reaching a GPU server: the Dask client, and whether both sides understand each other."""

from __future__ import annotations

import importlib.metadata
import socket
import threading
import warnings
from typing import Any
from urllib.parse import urlsplit

from gemm_lab import config
from gemm_lab.device import wire
from gemm_lab.errors import LabError, MissingDependency

CONNECT_S = 5.0


class ServerError(LabError):
    """The GPU server cannot be used: not reached, of another version, or without a worker."""


def connect(address: str) -> Any:
    """A Dask client of the scheduler at `address`; a `ServerError` where none answers, at the latest after 10 s."""
    try:
        import distributed
    except ImportError:
        raise MissingDependency(
            "GEMM_LAB_SCHEDULER sends kernels to a server through Dask, which is not installed; "
            "type `pip install 'gemm_lab[classroom]'`."
        ) from None
    client = distributed.Client.__new__(distributed.Client)
    try:
        if not address.startswith("inproc://"):
            place = urlsplit(address)
            socket.create_connection((place.hostname, place.port or 0), CONNECT_S).close()  # Dask is slow to give up
        _started(client, address)
        return client
    except Exception as error:
        client.status = "closed"  # else Dask waits for it for 10 s when Python ends
        why = "what answers there is no scheduler of Dask's"
        if isinstance(error, (OSError, ValueError)):
            why = getattr(error, "strerror", None) or str(error).split("\n")[0] or type(error).__name__
        raise ServerError(
            f"No server answers at {address} ({why}). See whether `gemm-lab serve` runs there and whether its port can "
            "be reached from here, or unset GEMM_LAB_SCHEDULER to work on this machine."
        ) from None


def _started(client: Any, address: str) -> None:
    """Run Dask's constructor, which waits without end for a port that accepts and says nothing."""
    failed: list[BaseException] = []

    def start() -> None:
        try:
            client.__init__(address, timeout=CONNECT_S, set_as_default=False, name="gemm_lab")
        except BaseException as error:
            failed.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's list of versions; ours are compared by `require_same_versions`
        thread = threading.Thread(target=start, daemon=True)
        thread.start()
        thread.join(CONNECT_S)
    if thread.is_alive():
        raise TimeoutError(f"it accepts, but says nothing for {CONNECT_S:.0f} s")
    if failed:
        raise failed[0]


def dask_version() -> str:
    """The version of Dask's `distributed` on this machine."""
    return importlib.metadata.version("distributed")


def require_same_versions(address: str, facts: dict[str, Any]) -> None:
    """A `ServerError` if the server's worker, which told `facts`, has another gemm_lab or another Dask."""
    theirs, ours = (facts.get("version"), facts.get("protocol")), (config.version(), wire.PROTOCOL)
    if theirs != ours:
        raise ServerError(
            f"The server at {address} runs gemm_lab {theirs[0]} (messages {theirs[1]}) and this machine "
            f"{ours[0]} (messages {ours[1]}), which do not understand each other. Install the same version on both."
        )
    dask, own_dask = facts.get("dask"), dask_version()
    if dask != own_dask:
        raise ServerError(
            f"The server at {address} uses Dask {dask} and this machine {own_dask}, whose messages differ; "
            f"type `pip install distributed=={dask}` here, or install {own_dask} there."
        )
