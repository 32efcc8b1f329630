"""Which modules of the simulator other packages import. It has versions of its own, so each of these is a promise.

A module that is renamed or goes needs a new major version of gpu_simulator, or a door; one that another package begins to
use is added here.
"""

from tests.test_architecture import file_imports

FACE = {
    "",
    "allow_list",
    "argument_checks",
    "cli.command_line",
    "cli.terminal",
    "codegen.ops.memory.bulk",
    "codegen.program",
    "compiler",
    "compiler.clang",
    "compiler.compiler_process",
    "compiler.diagnostics",
    "compiler.disassembly",
    "compiler.nvrtc",
    "compiler.nvrtc_library",
    "compiler.sandbox",
    "effort",
    "errors",
    "faults",
    "hardware.bank_schedule",
    "hardware.banks",
    "hardware.data_sheets",
    "hardware.instruction_descriptor",
    "hardware.matrix_descriptor",
    "hardware.matrix_descriptor_sm100",
    "hardware.mma_layouts",
    "hardware.number_types",
    "hardware.occupancy",
    "hardware.presence",
    "hardware.swizzle",
    "hardware.tensor_map",
    "hardware.wmma_access",
    "kernel_file",
    "launching",
    "layouts.candidates",
    "layouts.reasons",
    "layouts.recorded_accesses",
    "layouts.shared_arrays",
    "layouts.studied_launch",
    "layouts.trials",
    "machine.argument_structs",
    "machine.counting",
    "machine.observer",
    "memory_limit",
    "observers.hazards",
    "observers.severities",
    "ptx.basic_blocks",
    "ptx.declarations",
    "ptx.demangle",
    "ptx.inlining",
    "ptx.ir",
    "ptx.parser",
    "ptx.types",
    "report",
    "simulating",
}


def used() -> set[str]:
    """The modules of the simulator that other packages import, without the package's name; "" is the package itself."""
    edges = file_imports().items()
    others = {other for name, found in edges if not name.startswith("gpu_simulator") for other in found}
    mine = {other for other in others if other.partition(".")[0] == "gpu_simulator"}
    return {other.removeprefix("gpu_simulator").removeprefix(".") for other in mine}


def test_other_packages_import_these_modules_and_no_others():
    assert used() - FACE == set(), "added to the list, this becomes a promise"
    assert FACE - used() == set(), "no longer used, so no longer promised"
