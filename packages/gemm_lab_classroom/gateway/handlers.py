"""The server's HTTP interface. Every response is JSON or the answer of a worker.

    GET    /v1/server                facts about the server
    GET    /v1/status                the number of waiting and running jobs
    POST   /v1/jobs/TICKET?op=…      make a request; TICKET is a random number that the client chooses
    GET    /v1/jobs/TICKET           its answer, or after some seconds its state
    DELETE /v1/jobs/TICKET           stop it, even if it runs, or delete its answer

All of them need a token. A request is refused after its headers and before its body is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import ssl
from collections import OrderedDict
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.web import Application, RequestHandler, stream_request_body

from gemm_lab_classroom.gateway.fair_queue import Refused
from gemm_lab_classroom.gateway.front import Gateway
from gpu_runner.remote import LONG_POLL_S, MOST_BYTES
from gpu_runner.transport.server_link import ANSWER_TYPE

HEADERS_S, BODY_S, CHUNK_S, LINGER_S = 15.0, 300.0, 30.0, 2.0
MOST_HEADER_BYTES, CHUNK_BYTES = 16 << 10, 1 << 20
MOST_STRANGERS = 2000  # connections without a valid token so far


class Handler(RequestHandler):
    """The base class of handlers. It requires a token, and responds to a refused request with one sentence."""

    gateway: Gateway
    person: str | None = None

    def initialize(self, gateway: Gateway) -> None:
        """Called by Tornado for each request."""
        self.gateway = gateway

    def prepare(self) -> None:
        """Called by Tornado before the body arrives: identify the person and admit or refuse the request."""
        try:
            person = self.gateway.person(self.request.headers.get("Authorization", ""))
            self.application.settings["server"].knows(self.request.connection.stream)
            self.gateway.limit_rate(person)
            self.person = person
            self.gateway.open[person] += 1
            self.admitted()
        except Refused as refusal:
            self.refuse(refusal)

    def admitted(self) -> None:
        """Called for an admitted request before its body arrives; may raise `Refused`."""

    def on_finish(self) -> None:
        """Called by Tornado when the response has been written."""
        self._count_down()

    def on_connection_close(self) -> None:
        """Called by Tornado when the client has disconnected before its response."""
        self._count_down()

    def _count_down(self) -> None:
        if self.person is not None:
            self.gateway.open[self.person] -= 1
            self.person = None

    def refuse(self, refusal: Refused) -> None:
        """Respond at once. The rest of a body is ignored, and the connection is closed after two seconds."""
        if self._finished:
            return
        self.set_status(refusal.status)
        if self.request.method == "POST":
            self.set_header("Connection", "close")
            connection = self.request.connection
            connection.set_max_body_size(1 << 62)
            stream = connection.stream
            asyncio.get_running_loop().call_later(LINGER_S, stream.close)
        self.finish({"error": str(refusal)})

    def set_default_headers(self) -> None:
        """Called by Tornado; removes the name and version of the software."""
        self.clear_header("Server")

    def write_error(self, status_code: int, **facts: Any) -> None:
        """Called by Tornado for requests that it refuses itself and for internal errors; shows no traceback."""
        said = "cannot do this." if status_code < 500 else "made a mistake; its terminal shows it."
        self.finish({"error": f"The server {said}"})


class Facts(Handler):
    """The handler for facts about the server."""

    async def get(self) -> None:
        """Respond with `Gateway.facts` as JSON."""
        self.write(self.gateway.facts(self.person))


class Status(Handler):
    """The handler for the number of jobs."""

    async def get(self) -> None:
        """Respond with `Gateway.status` as JSON."""
        self.write(self.gateway.status())


@stream_request_body
class Jobs(Handler):
    """The handler for requests and their answers."""

    job, file = None, None

    def admitted(self) -> None:
        """For a new request, register its job and open its file."""
        if self.request.method != "POST":
            return
        declared = self.request.headers.get("Content-Length", "0")
        facts = {name: self.get_query_argument(name, "") for name in ("op", "backend", "arch", "what", "protocol")}
        size = int(declared) if declared.isdecimal() and len(declared) < 20 else 0
        job = self.gateway.arriving(self.person, self.path_args[0], facts, size)
        self.job, self.file = job, (job.folder / "request").open("wb")
        self.request.connection.set_max_body_size(2 * MOST_BYTES)  # `data_received` refuses earlier, with a message

    def data_received(self, chunk: bytes) -> None:
        """Called by Tornado for each part of the body."""
        if self.job is None:
            return
        try:
            self.gateway.queue.grow(self.job, len(chunk))
            if self.job.size > MOST_BYTES:
                raise Refused(413, f"This request has more than the {MOST_BYTES >> 20} MB that may be sent.")
            self.file.write(chunk)
        except Refused as refusal:
            self._drop()
            self.refuse(refusal)
        except OSError as error:
            self._drop()
            self.refuse(Refused(507, f"The server cannot keep this request ({error.strerror})."))

    async def post(self, ticket: str) -> None:
        """Called when the whole body has arrived: put the job in the queue and respond with its state."""
        if self.job is None:
            raise AssertionError("Tornado calls this for requests that were taken")
        job, self.job = self.job, None
        self.file.close()
        self.gateway.entered(job)
        self.set_status(202)
        self.write(self.gateway.state(job))

    async def get(self, ticket: str) -> None:
        """Respond with the answer as soon as there is one, or with the state after some seconds."""
        try:
            job = self.gateway.job_of(self.person, ticket)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(job.ended.wait(), self._patience())
            job = self.gateway.job_of(self.person, ticket)
        except Refused as refusal:
            self.refuse(refusal)
            return
        if job.state != "done":
            self.write(self.gateway.state(job))
            return
        self.set_header("Content-Type", ANSWER_TYPE)
        self.set_header("Content-Length", str(job.size))
        try:
            with open(job.folder / "answer", "rb") as file:
                while chunk := file.read(CHUNK_BYTES):
                    self.write(chunk)
                    await asyncio.wait_for(self.flush(), CHUNK_S)
                    self.gateway.job_of(self.person, ticket)
        except (StreamClosedError, asyncio.TimeoutError, OSError, Refused):
            self.request.connection.stream.close()

    def _patience(self) -> float:
        try:
            wanted = float(self.get_query_argument("wait", "1"))
            return wanted if 0.0 <= wanted <= LONG_POLL_S else LONG_POLL_S
        except ValueError:
            return 1.0

    async def delete(self, ticket: str) -> None:
        """Stop the job or delete its answer, which the client does not need any more."""
        try:
            self.gateway.leave(self.gateway.job_of(self.person, ticket))
        except Refused as refusal:
            self.refuse(refusal)
            return
        self.write({})

    def on_connection_close(self) -> None:
        """Called by Tornado when the client has disconnected; drops a request that has not arrived completely."""
        self._drop()
        super().on_connection_close()

    def _drop(self) -> None:
        job, self.job = self.job, None
        if job is not None:
            self.file.close()
            self.gateway.leave(job)


class Unknown(Handler):
    """The handler for every other address, which requires a token as well."""

    def admitted(self) -> None:
        """Refuse with 404."""
        raise Refused(404, "The server has nothing at this address.")


class Server(HTTPServer):
    """An HTTP server that limits the number of connections without a valid token, and closes the oldest of them."""

    def initialize(self, *args: Any, **options: Any) -> None:
        """Called by Tornado's constructor."""
        super().initialize(*args, **options)
        self.strangers: OrderedDict[Any, None] = OrderedDict()

    def handle_stream(self, stream: Any, address: Any) -> None:
        """Called by Tornado for a new connection."""
        self.strangers[stream] = None
        for old in [old for old in self.strangers if old.closed()]:
            del self.strangers[old]
        while len(self.strangers) > MOST_STRANGERS:
            self.strangers.popitem(last=False)[0].close()
        super().handle_stream(stream, address)

    def knows(self, stream: Any) -> None:
        """Record that a connection has shown a valid token."""
        self.strangers.pop(stream, None)


def server_for(gateway: Gateway, context: ssl.SSLContext | None) -> Server:
    """An HTTP server for the gateway, with TLS if there is a `context`. It does not listen yet."""
    for name in ("tornado.access", "tornado.general"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # so that bad requests cannot fill the teacher's terminal
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536) if hard > 0 else max(soft, 65536), hard))
    kept = {"gateway": gateway}
    application = Application(
        [(r"/v1/server", Facts, kept), (r"/v1/status", Status, kept), (r"/v1/jobs/([^/]{1,64})", Jobs, kept)],
        default_handler_class=Unknown,
        default_handler_args=kept,
    )
    server = Server(
        application,
        ssl_options=context,
        max_header_size=MOST_HEADER_BYTES,
        idle_connection_timeout=HEADERS_S,
        body_timeout=BODY_S,
        max_body_size=MOST_BYTES,
        chunk_size=CHUNK_BYTES,
    )
    application.settings["server"] = server
    return server
