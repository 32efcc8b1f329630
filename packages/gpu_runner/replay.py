"""`python -m gpu_runner.replay PLAN` launches each kernel of a plan once, so that a profiler can observe it.

A plan is a pickled list of dicts with the keys cubin, entry, grid, threads, smem (dynamic bytes), args and, for
clusters of more than one block, cluster. Array arguments are copied to the GPU, tensor maps are encoded, ints become C
ints and floats C floats. The kernels run in this process, because ncu and compute-sanitizer attach to it.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

from gpu_runner.driver import Buffer, Device


def replay(device: Device, plan: list[dict[str, Any]]) -> None:
    """Launch the kernels of the plan on this device one after the other, and wait for each."""
    modules: dict[bytes, int] = {}
    for step in plan:
        if step["cubin"] not in modules:
            modules[step["cubin"]] = device.load(step["cubin"])
        function = device.function(modules[step["cubin"]], step["entry"], step["threads"], step["smem"], step["entry"])
        buffers: dict[int, Buffer] = {}
        arguments = device.upload_all(step["args"], buffers)
        device.launcher(function, step["grid"], arguments, step.get("cluster", (1, 1, 1)))()
        device.wait()
        for buffer in buffers.values():
            buffer.free()


if __name__ == "__main__":
    device = Device()
    with device.explained():
        replay(device, pickle.loads(Path(sys.argv[1]).read_bytes()))
