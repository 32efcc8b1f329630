"""`python -m gemm_lab.device.replay PLAN`: launch the kernels of a plan once each, for a profiler to watch.

A plan is a pickled list of dicts: cubin, entry, grid, threads, smem (dynamic bytes), args. Array arguments are
copied to the GPU, ints become C ints and floats C floats. Runs in this process, because ncu and
compute-sanitizer attach to it.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path


def main(path: str) -> None:
    """Launch every step of the plan and wait for it."""
    import cupy
    import numpy as np
    from cupy.cuda import driver
    from cupy.cuda.function import Module

    modules: dict[bytes, Module] = {}
    for step in pickle.loads(Path(path).read_bytes()):
        if step["cubin"] not in modules:
            module = Module()
            module.load(step["cubin"])
            modules[step["cubin"]] = module
        function = modules[step["cubin"]].get_function(step["entry"])
        if step["smem"]:
            driver.funcSetAttribute(function.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, step["smem"])
        held, args = [], []
        for value in step["args"]:
            if isinstance(value, np.ndarray):
                held.append(cupy.asarray(np.ascontiguousarray(value).view(np.uint8)))
                args.append(held[-1])
            else:
                args.append(np.int32(value) if isinstance(value, int) else np.float32(value))
        function(step["grid"], (step["threads"], 1, 1), tuple(args), shared_mem=step["smem"])
        cupy.cuda.runtime.deviceSynchronize()


if __name__ == "__main__":
    main(sys.argv[1])
