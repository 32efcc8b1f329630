"""Sends messages between a notebook and the process that owns the GPU, through pipes; `codec` says what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_runner.transport import codec

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

PROTOCOL = 4  # increased when the messages or their meaning change
IDLE_STATUS = 77  # exit status of a worker that ended because it was idle


def send(conn: Connection, message: Any) -> None:
    """Send a message. Raises `BadMessage` for a value that cannot be sent, and OSError if the pipe is broken."""
    parts = codec.encoded(message)
    conn.send_bytes(sum(map(len, parts)).to_bytes(8, "little"))
    for part in filter(len, parts):
        conn.send_bytes(part)


def receive(conn: Connection) -> Any:
    """Receive the next message. Raises EOFError if the other end is closed."""
    data, place = bytearray(int.from_bytes(conn.recv_bytes(), "little")), 0
    while place < len(data):
        place += conn.recv_bytes_into(data, place)
    return codec.decoded(data)
