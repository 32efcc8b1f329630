"""The server's worker: answers one job at a time, on its GPU or on the emulator.

Loaded by `gemm-lab serve` and `gemm-lab worker`, or by
`dask worker ADDRESS --nthreads 1 --resources GPU=1 --preload gemm_lab.server.worker`. GEMM_LAB_BACKEND chooses between
GPU and emulator. A kernel on the GPU runs in a process of its own, as in a notebook; on the emulator it runs in this
one, which its nanny replaces if it is ended.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from distributed import Worker, WorkerPlugin

from gemm_lab import config, device, emulator, hardware
from gemm_lab.device import wire
from gemm_lab.device.remote import KEY, MOST_BYTES
from gemm_lab.device.server_link import dask_version
from gemm_lab.errors import LabError
from gemm_lab.model.tensor_map import TensorMap

MOST_SECONDS = 120.0  # of an emulated launch
OUTPUT_LIMIT = 64 * 1024


class Gpu:
    """Jobs as requests to this process's own `Session`; `start` makes one."""

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

    def answer(self, op: str, payload: dict[str, Any], timeout_s: float | None, patience_s: float, fresh: bool):
        """(result, what was printed)."""
        if op != "emulate":
            raise LabError(
                f"This server has no GPU: its workers emulate, and cannot do “{op}”. Check and count here; "
                "to time kernels, use a server with a GPU."
            )
        return self.emulate(**payload)

    def emulate(self, *, compiled: dict[str, Any], grid, args: list[Any], cluster=(1, 1, 1), **options: Any):
        """{"arrays": the arrays of `args` afterwards, "report"}, and what the kernel printed."""
        options["max_seconds"] = min(options.get("max_seconds") or MOST_SECONDS, MOST_SECONDS)
        kernel, block = SimpleNamespace(**compiled), (compiled["threads"], 1, 1)
        report = emulator.launch(kernel, kernel.entry, tuple(grid), block, args, cluster=tuple(cluster), **options)
        return {"arrays": arrays_of(args), "report": report}, report.output[:OUTPUT_LIMIT]


class Answering(WorkerPlugin):
    """Puts the backend on a Dask worker, which then answers jobs (`device.remote.ask_worker`)."""

    name = KEY

    def setup(self, worker: Worker) -> None:
        worker.startup_information[KEY] = lambda worker: facts()
        self.backend = Gpu() if facts()["backend"] == "gpu" else Emulator()

    def answer(self, parts: list[bytes]) -> list[bytes]:
        """One job's answer: result or error, and what was printed. Errors are answers; nothing is raised."""
        job = wire.unpacked([bytearray(part) for part in parts])
        try:
            result, output = self.backend.answer(**job)
            answer = {"result": result, "output": output}
            found = wire.packed(answer)
            size = sum(len(part) for part in found)
            if size > MOST_BYTES:
                raise LabError(f"The result has {size / 2**20:,.0f} MB, and {MOST_BYTES >> 20} MB may be sent back.")
        except Exception as error:
            found = wire.packed({"error": wire.described(error), "output": getattr(error, "output", "")})
        return [bytes(part) for part in found]


def facts() -> dict[str, Any]:
    """What clients are told: versions, backend, and of a GPU what `hardware.Present` holds."""
    said: dict[str, Any] = {
        "version": config.version(), "protocol": wire.PROTOCOL, "dask": dask_version(), "pid": os.getpid()
    }  # fmt: skip
    wanted = config.backend()
    if wanted == "emulator" or (wanted == "auto" and not device.available()):
        return {**said, "backend": "emulator"}
    if not device.available():
        raise LabError(f"This worker is to use the GPU and cannot: {device.why_not()}")
    present = hardware.detect()
    return {**said, "backend": "gpu", "name": present.name, "arch": present.arch, "sms": present.sms,
            "driver": list(present.driver), "memory_gb": present.memory_gb, "uuid": present.uuid,
            "gpu": present.gpu.key if present.gpu else None}


def arrays_of(args: list[Any]) -> list[np.ndarray]:
    """The arrays among arguments, in the order of `device.launch`: one that only maps name stands at the first map."""
    direct = {id(value) for value in args if isinstance(value, np.ndarray)}
    found: dict[int, np.ndarray] = {}
    for value in args:
        if isinstance(value, np.ndarray):
            found[id(value)] = value
        elif isinstance(value, TensorMap) and id(value.array) not in direct:
            found.setdefault(id(value.array), value.array)
    return list(found.values())


async def dask_setup(worker: Worker) -> None:
    """Dask calls this when it preloads the module."""
    await worker.plugin_add(Answering(), name=KEY)
