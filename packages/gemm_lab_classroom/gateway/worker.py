"""The server's worker: answers one job at a time, on its GPU or on the simulator.

`gemm-lab serve` starts it (`engine`). GEMM_LAB_BACKEND chooses between GPU and simulator. On the GPU a kernel runs in a
separate process, as in a notebook. On the simulator it runs in the worker's process, which is replaced if it ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gpu_runner as device
import gpu_simulator
from gemm_lab import config
from gemm_lab.lab import known_types  # noqa: F401  registers types with the codec
from gemm_lab_classroom.gateway.requests import checked
from gemm_results.errors import LabError
from gpu_runner.remote import MOST_BYTES
from gpu_runner.transport import codec, told_errors
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware import data_sheets as hardware
from gpu_simulator.hardware.tensor_map import arrays_of

OUTPUT_LIMIT = 64 * 1024


class Gpu:
    """Answers jobs by requests to a `Session` of this process; `start` creates a session."""

    backend = "gpu"

    def __init__(self, start: Callable[[], Any] = device.Session) -> None:
        self.start, self.session = start, start()

    def answer(self, op: str, payload: dict[str, Any], timeout_s: float | None, patience_s: float, fresh: bool):
        """(result, printed text). fresh: use a new GPU process, which is ended afterwards."""
        session = self.start() if fresh else self.session
        try:
            return session.request(op, timeout_s=timeout_s, patience_s=patience_s, **payload), session.output
        finally:
            if fresh:
                session.close()


class Simulator:
    """Answers jobs of the only operation that needs no GPU, `simulate`."""

    backend = "simulator"

    def answer(self, op: str, payload: dict[str, Any], timeout_s: float | None, patience_s: float, fresh: bool):
        """({"arrays": the arguments' arrays after the launch, "report": the report}, printed text)."""
        options = {"cluster": (1, 1, 1)} | payload
        compiled, grid, args, cluster = (options.pop(name) for name in ("compiled", "grid", "args", "cluster"))
        options["placement"] = gpu_simulator.Placement(**options.pop("placement", {}))
        kernel, block = SimpleNamespace(**compiled), (compiled["threads"], 1, 1)
        report = gpu_simulator.launch(kernel, kernel.entry, tuple(grid), block, args, cluster=tuple(cluster), **options)
        return {"arrays": arrays_of(args), "report": report}, report.output[:OUTPUT_LIMIT]


def answered(backend: Gpu | Simulator, request: bytearray) -> list[bytes | memoryview]:
    """The encoded answer to one request: its result or error, and the printed text. Raises no exception."""
    try:
        job = checked(codec.decoded(request), backend.backend)
        result, output = backend.answer(**job)
        found = codec.encoded({"result": result, "output": output})
        size = sum(len(part) for part in found)
        if size > MOST_BYTES:
            raise LabError(f"The result has {size / 2**20:,.0f} MB, and {MOST_BYTES >> 20} MB may be sent back.")
    except Exception as error:
        if not isinstance(error, SimulatorError):
            traceback.print_exc(file=sys.stderr)  # for the person who runs the server; students get the message
        found = codec.encoded({"error": told_errors.told(error), "output": str(getattr(error, "output", ""))})
    return found


def facts() -> dict[str, Any]:
    """The facts about a worker for clients: its process id, its backend, and for a GPU the fields of `Present`.

    Raises `LabError` if GEMM_LAB_BACKEND is "gpu" and no GPU can be used.
    """
    said: dict[str, Any] = {"pid": os.getpid()}
    wanted = config.backend()
    if wanted == "simulator" or (wanted == "auto" and not device.available()):
        return {**said, "backend": "simulator"}
    if not device.available():
        raise LabError(f"This worker is to use the GPU and cannot: {device.why_not()}")
    present = hardware.detect()
    return {
        **said,
        "backend": "gpu",
        "name": present.name,
        "arch": present.arch,
        "sms": present.sms,
        "driver": list(present.driver),
        "memory_gb": present.memory_gb,
        "uuid": present.uuid,
        "gpu": present.gpu.key if present.gpu else None,
    }


def main(said: Callable[[], dict[str, Any]] = facts, gpu: Callable[[], Gpu] = Gpu) -> None:
    """Answer jobs from standard input until it is closed; for the lines see `engine`.

    argv[1]: the seconds between signs of life.   said, gpu: for tests.
    """
    lines, lock = os.fdopen(os.dup(1), "wb", buffering=0), threading.Lock()
    os.dup2(2, 1)  # what is printed here must not stand between the lines

    def tell(found: dict[str, Any] | None) -> None:
        with lock:
            lines.write(b"\n" if found is None else json.dumps(found).encode() + b"\n")

    def live() -> None:
        try:
            while True:
                time.sleep(float(sys.argv[1]))
                tell(None)
        except OSError:  # the gateway has ended
            os._exit(0)

    try:
        found = said()
        backend = gpu() if found["backend"] == "gpu" else Simulator()
        tell(found)
    except SimulatorError as error:
        tell({"failed": str(error)})
        return
    threading.Thread(target=live, daemon=True).start()
    for line in sys.stdin.buffer:
        request, answer = map(Path, json.loads(line))
        try:
            parts = answered(backend, bytearray(request.read_bytes()))
            with answer.open("wb") as file:
                file.writelines(parts)
            tell({"bytes": sum(len(part) for part in parts)})
        except OSError as error:
            tell({"failed": f"failed ({type(error).__name__})"})
    os._exit(0)


if __name__ == "__main__":
    main()
