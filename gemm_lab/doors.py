"""Old paths of modules that the notebooks have named; in this release they still lead to the module.

`import gemm_lab` opens the doors, so a notebook that somebody has copied before the modules moved runs as it is.
"""

from __future__ import annotations

import importlib
import sys

# The old path of a module, and where it is now.
MOVED = {
    "gemm_lab.measure.published_trials": "gemm_results.published_trials",
    "gemm_lab.measure.results": "gemm_results.results",
    "gemm_lab.plots": "gemm_results.plots",
    "gemm_lab.published": "gemm_results.published",
    "gemm_lab.roofline_model": "gemm_results.roofline_model",
    "gpu_simulator.compiler.address_reuse": "gpu_timing.machine_code.address_reuse",
    "gpu_simulator.compiler.instruction_order": "gpu_timing.machine_code.instruction_order",
    "gpu_simulator.compiler.main_loop": "gpu_timing.machine_code.main_loop",
}


class Doors:
    """Finder and loader of the old paths, for `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> object:
        """What Python loads for an old path; None for every other name."""
        if name not in MOVED:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, Doors)

    @staticmethod
    def create_module(spec: object) -> None:
        """Python makes an empty module, which `exec_module` replaces."""

    @staticmethod
    def exec_module(module: object) -> None:
        """Put the module itself in the place of the empty one."""
        sys.modules[module.__name__] = importlib.import_module(MOVED[module.__name__])
