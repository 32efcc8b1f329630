"""Whether this machine has a GPU that CUDA kernels can run on, and what to do if it has none."""

from __future__ import annotations

import os
import sys

from gpu_simulator.hardware import data_sheets


def why_none() -> str:
    """One sentence that says why no GPU of this machine can be used and what would help; "" if there is one."""
    if not sys.platform.startswith("linux"):
        return "The GPU is used on Linux only (on Windows, inside WSL 2); here the simulator runs the kernels."
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return "CUDA_VISIBLE_DEVICES hides every GPU; unset it to use one."
    if data_sheets.detect() is None:
        return "No NVIDIA driver or GPU was found; type nvidia-smi to see what the driver sees."
    return ""
