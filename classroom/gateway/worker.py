"""The server's worker: answers one job at a time, on its GPU or on the emulator.

`gemm-lab serve` starts it through Dask. GEMM_LAB_BACKEND chooses between GPU and emulator. A kernel on the GPU runs in
a process of its own, as in a notebook; on the emulator it runs in this one, which its nanny replaces if it is ended.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker

import gpu_runner as device
import gpu_simulator as emulator
from classroom.gateway.requests import checked
from gemm_lab import config
from gemm_lab.lab import known_types  # noqa: F401  both make types known
from gpu_runner.remote import KEY, MOST_BYTES
from gpu_runner.transport import codec, told_errors
from gpu_runner.transport.server_results import arrays_of
from gpu_simulator.errors import LabError
from gpu_simulator.hardware import data_sheets as hardware

OUTPUT_LIMIT = 64 * 1024


class Gpu:
    """Jobs as requests to this process's own `Session`; `start` makes one."""

    backend = "gpu"

    def __init__(self, start: Callable[[], Any] = device.Session) -> None:
        self.start, self.session = start, start()

    def answer(self, op: str, payload: dict[str, Any], timeout_s: float | None, patience_s: float, fresh: bool):
        """(result, what was printed). `fresh`: in a GPU process of its own, which is ended."""
        session = self.start() if fresh else self.session
        try:
            return session.request(op, timeout_s=timeout_s, patience_s=patience_s, **payload), session.output
        finally:
            if fresh:
                session.close()


class Emulator:
    """The one operation that needs no GPU: `emulate`."""

    backend = "emulator"

    def answer(self, op: str, payload: dict[str, Any], timeout_s: float | None, patience_s: float, fresh: bool):
        """({"arrays": those among the arguments afterwards, "report"}, what was printed)."""
        options = {"cluster": (1, 1, 1)} | payload
        compiled, grid, args, cluster = (options.pop(name) for name in ("compiled", "grid", "args", "cluster"))
        kernel, block = SimpleNamespace(**compiled), (compiled["threads"], 1, 1)
        report = emulator.launch(kernel, kernel.entry, tuple(grid), block, args, cluster=tuple(cluster), **options)
        return {"arrays": arrays_of(args), "report": report}, report.output[:OUTPUT_LIMIT]


class Answering(WorkerPlugin):
    """Puts the backend on a Dask worker, which then answers jobs."""

    name = KEY

    def setup(self, worker: Worker) -> None:
        found = facts()
        worker.startup_information[KEY] = lambda worker: found
        self.backend = Gpu() if found["backend"] == "gpu" else Emulator()

    def answer(self, request: bytearray) -> list[bytes | memoryview]:
        """The answer to one request: result or error, and what was printed. Errors are answers; nothing is raised."""
        try:
            job = checked(codec.decoded(request), self.backend.backend)
            result, output = self.backend.answer(**job)
            found = codec.encoded({"result": result, "output": output})
            size = sum(len(part) for part in found)
            if size > MOST_BYTES:
                raise LabError(f"The result has {size / 2**20:,.0f} MB, and {MOST_BYTES >> 20} MB may be sent back.")
        except Exception as error:
            if not isinstance(error, LabError):
                traceback.print_exc(file=sys.stderr)  # for whoever runs the server; students get the sentence
            found = codec.encoded({"error": told_errors.told(error), "output": str(getattr(error, "output", ""))})
        return found


def answer_file(request: str, answer: str) -> int:
    """Answer the request in one file into another; the answer's bytes. Runs on a worker."""
    parts = get_worker().plugins[KEY].answer(bytearray(Path(request).read_bytes()))
    with open(answer, "wb") as file:
        file.writelines(parts)
    return sum(len(part) for part in parts)


def facts() -> dict[str, Any]:
    """What clients are told: process, backend, and of a GPU what `hardware.Present` holds."""
    said: dict[str, Any] = {"pid": os.getpid()}
    wanted = config.backend()
    if wanted == "emulator" or (wanted == "auto" and not device.available()):
        return {**said, "backend": "emulator"}
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


async def dask_setup(worker: Worker) -> None:
    """Dask calls this when it preloads the module."""
    await worker.plugin_add(Answering(), name=KEY)
