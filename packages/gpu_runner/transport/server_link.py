"""Sends HTTP requests with a time limit to a GPU server, and checks that client and server have the same version.

The server is not trusted more than necessary. Its answers are data whose form is checked, redirects are not followed,
and the size and the duration of an answer are limited.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

from gpu_runner import settings
from gpu_runner.faults import RunnerError
from gpu_runner.transport import wire
from gpu_runner.transport.field_types import fitted
from gpu_simulator.errors import ConfigError, MissingDependency

CONNECT_S, SILENCE_S = 5.0, 20.0
SLOWEST_BYTES_PER_S = 1 << 20  # slowest connection that is accepted
MOST_JSON_BYTES, MOST_SENTENCE = 4 << 20, 1000
ANSWER_TYPE = "application/x-gemm-lab"


class ServerError(RunnerError):
    """The GPU server cannot be used: it is not reached, has another version or no worker, or it refused the request."""


class Refusal(ServerError):
    """The server refused the request. The message is the server's own, `status` is the HTTP status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(ServerError):
    """No answer came: nothing listens at the address, the connection broke, or the time limit was exceeded."""


class Link:
    """A connection to the server at `address`. Safe to use from several threads."""

    def __init__(self, address: str, token: str) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingDependency(
                "GEMM_LAB_SERVER sends kernels to a server over HTTP, for which httpx is not installed; "
                f"type `{settings.install_command('classroom')}`."
            ) from None
        self.address, self._httpx = address, httpx
        headers = {"Accept-Encoding": "identity", "User-Agent": f"gemm_lab/{settings.version()}"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        verify = _context() if address.startswith("https") else False
        try:  # Proxies and passwords of the environment are not used: the token is for this server only.
            self._client = httpx.Client(
                base_url=address,
                headers=headers,
                verify=verify,
                trust_env=False,
                follow_redirects=False,
                timeout=httpx.Timeout(SILENCE_S, connect=CONNECT_S),
                limits=httpx.Limits(keepalive_expiry=5.0),
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise Unreachable(f"No server answers at {address} ({_why(error)}). " + HELP) from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(
        self,
        method: str,
        path: str,
        longest_s: float,
        body: Sequence[bytes | memoryview] = (),
        most: int = MOST_JSON_BYTES,
        **query: str,
    ) -> dict[str, Any] | bytearray:
        """Send a request and return the answer: a JSON object, or the bytes of a worker's answer, `most` at most.

        Raises `Refusal` with the server's message, `Unreachable` if there is no answer within `longest_s` (plus a
        second for each megabyte that is moved), and `ServerError` for an answer that is too large or not one of
        gemm_lab's.
        """
        found: list[Any] = []
        allowed = Allowed(longest_s)

        def run() -> None:
            try:
                found.append(self._ask(method, path, allowed, body, most, query))
            except BaseException as error:
                found.append(error)

        # In a thread, because neither a name look-up nor a server that sends single bytes has a time limit of its own.
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive() and (left := allowed.left()) > 0:
            thread.join(left)
        if not found:
            why = f"it accepts, but says nothing for {longest_s:.0f} s"
            raise Unreachable(f"No server answers at {self.address} ({why}). {HELP}")
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]

    def _ask(
        self,
        method: str,
        path: str,
        allowed: Allowed,
        body: Sequence[bytes | memoryview],
        most: int,
        query: dict[str, str],
    ) -> dict[str, Any] | bytearray:
        httpx = self._httpx
        size = sum(len(part) for part in body)
        try:
            with self._client.stream(
                method, path, params=query, content=_pieces(body, allowed) if body else None,
                headers={"Content-Length": str(size)} if body else None,
            ) as response:  # fmt: skip
                data = bytearray()
                for chunk in response.iter_raw():
                    data += chunk
                    allowed.moved += len(chunk)
                    if len(data) > most or allowed.left() <= 0:
                        raise ServerError(f"The server at {self.address} sends more, or longer, than it may. " + HELP)
                return self._understood(response, data)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError, TimeoutError) as error:
            raise Unreachable(f"No server answers at {self.address} ({_why(error)}). " + HELP) from None

    def _understood(self, response: Any, data: bytearray) -> dict[str, Any] | bytearray:
        if response.status_code == 200 and response.headers.get("content-type") == ANSWER_TYPE:
            return data
        try:
            facts = json.loads(data.decode("utf-8"))
            if not isinstance(facts, dict):
                raise ValueError
            if not 200 <= response.status_code < 300:
                raise Refusal(readable(fitted(facts.get("error"), str, "error"), MOST_SENTENCE), response.status_code)
        except (ValueError, RecursionError):
            raise ServerError(f"What answers at {self.address} is no server of gemm_lab's. " + HELP) from None
        return facts


HELP = ("See whether `gemm-lab serve` runs there and whether its port can be reached from here, or unset "
        "GEMM_LAB_SERVER to work on this machine.")  # fmt: skip


class Allowed:
    """The time limit of one request: `longest_s` seconds, and one more for each megabyte that has been moved."""

    def __init__(self, longest_s: float) -> None:
        self.begun, self.longest_s, self.moved = time.monotonic(), longest_s, 0

    def left(self) -> float:
        """The seconds that are left now."""
        return self.begun + self.longest_s + self.moved / SLOWEST_BYTES_PER_S - time.monotonic()


def _pieces(body: Iterable[bytes | memoryview], allowed: Allowed) -> Iterable[bytes]:
    for part in body:
        view = memoryview(part)
        for start in range(0, len(view), 1 << 20):
            if allowed.left() <= 0:
                raise TimeoutError("sending took too long")
            yield bytes(view[start : start + (1 << 20)])
            allowed.moved += 1 << 20


def _context() -> ssl.SSLContext:
    """What the server's certificate is checked with: GEMM_LAB_CERTIFICATE if it is set, else what the system trusts.

    Raises `ConfigError` for a file that holds no certificate.
    """
    chosen = settings.certificate()
    try:
        return ssl.create_default_context(cafile=str(chosen) if chosen else None)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"GEMM_LAB_CERTIFICATE names {chosen}, which is no certificate ({error}).") from None


def _why(error: Exception) -> str:
    if "Timeout" in type(error).__name__:
        return "it accepts, but says nothing" if "Read" in type(error).__name__ else "it does not let us in"
    return readable(str(error).split("\n")[0], 200) or type(error).__name__


def readable(text: str, most: int) -> str:
    """Text from elsewhere, safe to display: one line without control characters, of at most `most` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def require_same_versions(address: str, facts: dict[str, Any]) -> None:
    """Raise `ServerError` if the server's `facts` name another version of gemm_lab or of the messages."""
    theirs, ours = (facts.get("version"), facts.get("protocol")), (settings.version(), wire.PROTOCOL)
    if theirs != ours:
        raise ServerError(
            f"The server at {address} runs gemm_lab {readable(str(theirs[0]), 40)} (messages "
            f"{readable(str(theirs[1]), 40)}) and this machine {ours[0]} (messages {ours[1]}), which do not understand "
            "each other. Install the same version on both."
        )
