"""Lets Dask communicate over Unix sockets, so that no port is opened and only the server's user can connect.

An address is `unix://FOLDER:NUMBER`, for the socket FOLDER/NUMBER. The folder is accessible to its owner only (mode
0700), so other users of the machine cannot connect. Importing this module registers the scheme with Dask; every process
that uses it has to import it.
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
    """A connection over a Unix socket. It is Dask's TCP connection without the options that only TCP has."""

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
        """A connection to `address`. Raises `CommClosedError` if nothing listens there."""
        stream = IOStream(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), max_buffer_size=MOST_BUFFERED)
        try:
            await stream.connect(_path(address))
        except (OSError, StreamClosedError) as error:
            stream.close()
            raise CommClosedError(f"Nobody listens at {address}: {error}") from error
        return UnixComm(stream, _nameless(parse_host_port(address)[0]), f"{SCHEME}://{address}", deserialize)


class Listener(tcp.TCPListener):
    """Listens at a new socket in the folder of its address."""

    prefix = f"{SCHEME}://"
    comm_class = UnixComm

    async def start(self) -> None:
        """Create the socket and accept connections."""
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
        """(folder, number) of the socket."""
        self._check_started()
        return self.ip, self.port

    @property
    def contact_address(self) -> str:
        """The address at which others can connect."""
        return self.prefix + self._place()


class Backend(tcp.BaseTCPBackend):
    """Dask's backend for the scheme `unix`."""

    _connector_class, _listener_class = Connector, Listener

    def resolve_address(self, loc: str) -> str:
        """The address itself, since it has no name to look up."""
        return loc

    def get_local_address_for(self, loc: str) -> str:
        """The folder of the address."""
        return parse_host_port(loc)[0]


class QuietScheduler(Scheduler):
    """A scheduler without Dask's HTTP server, so without its dashboard and metrics."""

    def start_http_server(self, *args: object, **options: object) -> None:
        """Do nothing."""


class QuietWorker(Worker):
    """A worker without Dask's HTTP server."""

    def start_http_server(self, *args: object, **options: object) -> None:
        """Do nothing."""


def _nameless(folder: str) -> str:
    """The address for the connecting end of a connection, which has no socket file."""
    return f"{SCHEME}://{folder}:0"


def _path(address: str) -> str:
    folder, number = parse_host_port(address)
    return f"{folder}/{number}"


backends[SCHEME] = Backend()
