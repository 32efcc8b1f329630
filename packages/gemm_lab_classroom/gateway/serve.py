"""`gemm-lab serve`: starts the gateway and its workers, and stops them."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import socket
import ssl
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import gpu_runner as device
from gemm_lab_classroom.gateway.roster import Roster, tokens_in_words
from gemm_results.errors import LabError
from gpu_runner import settings, turns
from gpu_simulator.errors import ConfigError, MissingDependency
from gpu_simulator.hardware import data_sheets as hardware

BACKLOG = 1024


@dataclass(frozen=True)
class Place:
    """The options of a server: where it listens, the roster of its users, and its TLS certificate and key."""

    host: str = "127.0.0.1"
    port: int = 8786
    roster: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def addresses(self) -> list[tuple[socket.AddressFamily, tuple]]:
        """The (family, address) pairs of the host. Raises `ConfigError` if its name cannot be resolved."""
        try:
            host, kind = self.host or "0.0.0.0", socket.SOCK_STREAM
            found = socket.getaddrinfo(host, self.port, type=kind, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            raise ConfigError(f"--host {self.host!r} is no address of this machine ({error}).") from None
        return list(dict.fromkeys((family, address) for family, _, _, _, address in found))

    def reaches_others(self) -> bool:
        """Whether other machines can connect."""
        return not all(ipaddress.ip_address(address[0].split("%")[0]).is_loopback for _, address in self.addresses())

    def context(self) -> ssl.SSLContext | None:
        """The TLS context with the certificate; None without one. Raises `ConfigError` if it cannot be used."""
        if self.certificate is None and self.key is None:
            return None
        if self.certificate is None or self.key is None:
            raise ConfigError("TLS needs two files: --certificate and --key.")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.certificate, self.key, password=lambda: "")
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"The certificate {self.certificate} with the key {self.key} cannot be used ({error})."
            ) from None
        return context

    def shown(self, port: int) -> str:
        """The URL of the server, for the students."""
        host = socket.gethostname() if self.host in ("", "0.0.0.0", "::") else self.host
        return f"{'https' if self.certificate else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def environments(backend: str, count: int | None) -> list[dict[str, str]]:
    """The environment variables of each worker: one worker for every visible GPU, or `count` that run the simulator.

    With them a worker uses no other server and sees only its own GPU. `count` also limits the number of GPUs. Raises
    `LabError` if backend is "gpu" and no GPU can be used, and `ConfigError` if count is less than 1.
    """
    for name in ("GEMM_LAB_SERVER", "GEMM_LAB_SCHEDULER"):
        os.environ.pop(name, None)  # this machine is the server, so it must use its own GPU
    usable = backend != "simulator" and device.available()
    if backend == "gpu" and not usable:
        raise LabError(
            f"The GPU cannot be used: {device.why_not()} `--backend simulator` starts workers that simulate."
        )
    if count is not None and count < 1:
        raise ConfigError(f"--workers is {count}; give the number of workers, 1 or more.")
    shared = {"GEMM_LAB_SERVER": "", "GEMM_LAB_TOKEN": "", "GEMM_LAB_BACKEND": "gpu" if usable else "simulator"}
    if not usable:
        threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        return [{**shared, **threads} for _ in range(1 if count is None else count)]
    named = os.environ.get("CUDA_VISIBLE_DEVICES", "").strip()
    visible = named.split(",") if named else [str(number) for number in range(hardware.count())]
    return [{**shared, "CUDA_VISIBLE_DEVICES": one.strip()} for one in visible[:count]]


async def serve(place: Place, workers: Sequence[dict[str, str]], say: Callable[[str], None]) -> None:
    """Run a gateway and its workers on this machine until interrupted.

    `say` is called with each line for the teacher. The last one, after all workers have started, has the address for
    the students. Raises `LabError` if the server cannot start, for example without a roster if others can connect.
    """
    try:
        import tornado  # noqa: F401
    except ImportError:
        typed = settings.install_command("classroom")
        raise MissingDependency(f"A GPU server needs Tornado; type `{typed}`.") from None
    from gemm_lab_classroom.gateway.front import Gateway
    from gemm_lab_classroom.gateway.handlers import server_for

    others = place.reaches_others()
    if others and place.roster is None:
        raise ConfigError(
            f"With --host {place.host or '0.0.0.0'} other machines can connect, so the server needs the names of "
            "the class: --roster students.csv, one name a line."
        )
    context, sockets = place.context(), _listening(place)
    port = sockets[0].getsockname()[1]
    roster = Roster.read(place.roster) if place.roster else Roster.of_one(turns.me())
    with tempfile.TemporaryDirectory(prefix="gemm-lab-") as folder:
        gateway = Gateway(roster, Path(folder), list(workers))
        try:
            await gateway.engine.start()
            server = server_for(gateway, context)
            server.add_sockets(sockets)
            for line in _news(place, roster, others):
                say(line)
            kinds = [variables["GEMM_LAB_BACKEND"] for variables in workers]
            found = ", ".join(f"{kinds.count(kind)} × {kind}" for kind in dict.fromkeys(kinds))
            say(f"Workers here: {found}. On the students' machines: GEMM_LAB_SERVER={place.shown(port)}")
            await asyncio.Event().wait()
        finally:
            for one in sockets:
                one.close()
            with contextlib.suppress(asyncio.CancelledError):
                await gateway.engine.close()


def _listening(place: Place) -> list[socket.socket]:
    """Sockets that listen at the requested addresses. Raises `LabError` if the port cannot be used."""
    found: list[socket.socket] = []
    port = place.port
    for family, address in place.addresses():
        one = socket.socket(family, socket.SOCK_STREAM)
        found.append(one)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            one.bind((address[0], port, *address[2:]))
            one.listen(BACKLOG)
        except OSError as error:
            for other in found:
                other.close()
            raise LabError(
                f"Port {port} of {place.host or 'this machine'} cannot be used ({error.strerror}); choose "
                "another: --port."
            ) from None
        one.setblocking(False)
        port = port or one.getsockname()[1]
    return found


def _news(place: Place, roster: Roster, others: bool) -> list[str]:
    """Lines for the teacher before the address: new tokens, and a warning if connections are not encrypted."""
    lines = []
    if roster.new and place.roster:
        lines.append(f"New tokens, shown this once; {place.roster.name}.tokens keeps only their hashes:")
    lines += tokens_in_words(roster)
    if others and not place.certificate:
        lines.append(
            "Connections are not encrypted: anybody who can read the network's traffic can read tokens and kernels. "
            "Give the server a certificate (--certificate, --key), or use it only in a network that you trust."
        )
    return lines
