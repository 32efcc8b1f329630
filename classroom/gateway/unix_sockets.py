"""Dask's messages over Unix sockets: only the user who runs the server can reach them, and no port is opened.

An address is `unix://FOLDER:NUMBER`, which is the socket FOLDER/NUMBER. The folder belongs to its user alone (mode
0700), so the operating system keeps other users of the machine away. Importing this module makes the scheme known to
Dask; the module has to be imported in every process that uses it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket

from distributed import Scheduler, Worker
from distributed.comm import tcp
from distributed.comm.addressing import parse_host_port, unparse_host_port
from distributed.comm.core import CommClosedError
from distributed.comm.registry import backends
from tornado import netutil
from tornado.iostream import IOStream, StreamClosedError
from tornado.tcpserver import TCPServer

SCHEME = "unix"
MOST_BUFFERED = 64 << 20
_numbers = itertools.count(1)


class UnixComm(tcp.TCP):
    """A connection; what concerns TCP alone is left out."""

    def __init__(self, stream: IOStream, local: str, peer: str, deserialize: bool = True) -> None:
        stream.set_nodelay = lambda value: None
        super().__init__(stream, local, peer, deserialize)


tcp_timeout = tcp.set_tcp_timeout


def _timeout_of_tcp_only(stream: IOStream) -> None:
    if stream.socket is None or stream.socket.family != socket.AF_UNIX:
        tcp_timeout(stream)


tcp.set_tcp_timeout = _timeout_of_tcp_only


class Connector(tcp.TCPConnector):
    """Connects to the socket of an address."""

    async def connect(self, address: str, deserialize: bool = True, **options: object) -> UnixComm:
        """A connection to `address`; `CommClosedError` if nobody listens there."""
        stream = IOStream(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), max_buffer_size=MOST_BUFFERED)
        try:
            await stream.connect(_path(address))
        except (OSError, StreamClosedError) as error:
            stream.close()
            raise CommClosedError(f"Nobody listens at {address}: {error}") from error
        return UnixComm(stream, _nameless(parse_host_port(address)[0]), f"{SCHEME}://{address}", deserialize)


class Listener(tcp.TCPListener):
    """Listens at a socket of the folder that the address names, under a number of its own."""

    prefix = f"{SCHEME}://"
    comm_class = UnixComm

    async def start(self) -> None:
        """Make the socket and accept connections."""
        if not self.port:
            self.port = os.getpid() * 1000 + next(_numbers)
        self.tcp_server = TCPServer(max_buffer_size=MOST_BUFFERED)
        self.tcp_server.handle_stream = self._handle_stream
        self.tcp_server.add_socket(netutil.bind_unix_socket(_path(self._place()), mode=0o600, backlog=1024))

    def stop(self) -> None:
        """Close the socket and remove its file."""
        super().stop()
        with contextlib.suppress(OSError):
            os.unlink(_path(self._place()))

    async def _handle_stream(self, stream: IOStream, address: object) -> None:
        comm = UnixComm(stream, self.contact_address, _nameless(self.ip), self.deserialize)
        comm.allow_offload = self.allow_offload
        with contextlib.suppress(CommClosedError):
            await self.on_connection(comm)
            await self.comm_handler(comm)

    def _place(self) -> str:
        return unparse_host_port(self.ip, self.port)

    def get_host_port(self) -> tuple[str, int]:
        """The folder and the number."""
        self._check_started()
        return self.ip, self.port

    @property
    def contact_address(self) -> str:
        """Where others reach it."""
        return self.prefix + self._place()


class Backend(tcp.BaseTCPBackend):
    """The scheme `unix` for Dask."""

    _connector_class, _listener_class = Connector, Listener

    def resolve_address(self, loc: str) -> str:
        """The address itself: there is no name to look up."""
        return loc

    def get_local_address_for(self, loc: str) -> str:
        """The same folder."""
        return parse_host_port(loc)[0]


class QuietScheduler(Scheduler):
    """A scheduler without Dask's HTTP server: no dashboard, no metrics."""

    def start_http_server(self, *args: object, **options: object) -> None:
        """Nothing is started."""


class QuietWorker(Worker):
    """A worker without Dask's HTTP server."""

    def start_http_server(self, *args: object, **options: object) -> None:
        """Nothing is started."""


def _nameless(folder: str) -> str:
    """The address of the end that connected, which has no socket file."""
    return f"{SCHEME}://{folder}:0"


def _path(address: str) -> str:
    folder, number = parse_host_port(address)
    return f"{folder}/{number}"


backends[SCHEME] = Backend()
