"""Runs an instrumented kernel in the worker and reads what its checks reported (see `instrument.py`)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gpu_runner import bindings
from gpu_runner.driver import Buffer, Device, DriverError, words
from gpu_runner.postmortem.instrument import MOST_RANGES, with_version
from gpu_simulator.errors import SimulatorError

REPORT_WORDS, GRACE_S = 64, 1.0
VERSIONS = (
    (9, 3),
    (9, 2),
    (9, 1),
    (9, 0),
    (8, 8),
    (8, 7),
    (8, 6),
    (8, 5),
    (8, 4),
    (8, 3),
    (8, 2),
    (8, 1),
    (8, 0),
)
INVALID_PTX, UNSUPPORTED_VERSION = 218, 222


def examine(
    device: Device,
    context: Any,
    *,
    ptx: str,
    variables: list[str],
    entry: str,
    threads: int,
    dynamic_smem: int,
    grid: tuple[int, int, int],
    args: list[Any],
    cluster: tuple[int, int, int],
    limit_s: float,
) -> dict[str, Any]:
    """Launch the kernel once, with a limit of `limit_s` seconds. Afterwards this process has to be ended.

    Returns {"report": 10 words (see `checks.ptx`), "waiting": for each warp of block (0, 0, 0) the number of the site
    at which it waits plus 1, or 0, "arrays": {position in args: (address, bytes)}, "finished": bool, "fault": CUDA's
    error name or None}.
    """
    module = _assemble(device, ptx)
    function = device.function(module, entry, threads, dynamic_smem, entry)
    buffers: dict[int, Buffer] = {}
    arguments = device.upload_all(args, buffers)
    arrays = {i: (buffer.address, buffer.nbytes) for i, buffer in buffers.items()}
    allowed = list(arrays.values())
    found = [bindings.variable(module, name) for name in variables]
    allowed += [place for place in found if place]  # the assembler removes unused ones
    memory, address = device.mapped(8 * REPORT_WORDS)
    _write(
        device,
        module,
        "gemmlab_ranges",
        [min(len(allowed), MOST_RANGES)]
        + [edge for start, size in allowed[:MOST_RANGES] for edge in (start, start + size)],
    )
    _write(device, module, "gemmlab_control", [address, int(limit_s * 1e9), 0, 0])
    start = device.launcher(function, grid, arguments, cluster)
    device.wait()
    context.running()
    finished, fault, deadline = False, None, time.monotonic() + limit_s + GRACE_S
    try:
        with device.explained():
            start()
            end = device.mark()
            while not finished and time.monotonic() < deadline:
                finished = device.reached(end)
                time.sleep(0.001)
    except SimulatorError as error:
        finished, fault = True, getattr(error, "kind", getattr(error, "name", str(error)))
    found = words(memory)
    return {
        "report": found[:10],
        "waiting": found[16:48],
        "arrays": arrays,
        "finished": finished,
        "fault": fault,
    }


def _assemble(device: Device, ptx: str) -> int:
    """Let the driver assemble PTX. If it does not know the `.version`, try lower ones. Raises DriverError."""
    versions = [ptx, *(with_version(ptx, version) for version in VERSIONS)]
    for text in dict.fromkeys(versions):
        try:
            with device.explained():
                return device.load(text.encode())
        except DriverError as error:
            refusal = error
            if error.code not in (INVALID_PTX, UNSUPPORTED_VERSION):
                break
    raise refusal


def _write(device: Device, module: int, name: str, values: list[int]) -> None:
    address, _ = bindings.variable(module, name)
    device.write(address, np.array(values, np.uint64))
