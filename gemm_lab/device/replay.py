"""`python -m gemm_lab.device.replay PLAN`: launch the kernels of a plan once each, for a profiler to watch.

A plan is a pickled list of dicts: cubin, entry, grid, threads, smem (dynamic bytes), args. Array arguments are
copied to the GPU, tensor maps are encoded, ints become C ints and floats C floats. Runs in this process, because ncu
and compute-sanitizer attach to it.
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

    from gemm_lab.device.bindings import encode
    from gemm_lab.model.tensor_map import TensorMap

    modules: dict[bytes, Module] = {}
    for step in pickle.loads(Path(path).read_bytes()):
        if step["cubin"] not in modules:
            module = Module()
            module.load(step["cubin"])
            modules[step["cubin"]] = module
        function = modules[step["cubin"]].get_function(step["entry"])
        if step["smem"]:
            driver.funcSetAttribute(function.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, step["smem"])
        held: list = []  # (array, its copy on the GPU)
        args: list = []

        def upload(array, held=held):
            held.append((array, cupy.asarray(np.ascontiguousarray(array).view(np.uint8))))
            return held[-1][1]

        for value in step["args"]:
            if isinstance(value, np.ndarray):
                args.append(upload(value))
            elif isinstance(value, TensorMap):
                place = next((array for source, array in held if source is value.array), None)
                if place is None:
                    place = upload(value.array)
                args.append(np.frombuffer(encode(value, place.data.ptr), np.uint8))  # CuPy passes it by value
            else:
                args.append(np.int32(value) if isinstance(value, int) else np.float32(value))
        function(step["grid"], (step["threads"], 1, 1), tuple(args), shared_mem=step["smem"])
        cupy.cuda.runtime.deviceSynchronize()


if __name__ == "__main__":
    main(sys.argv[1])
