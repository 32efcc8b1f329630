"""Which modules of the simulator other packages import. It has versions of its own, so each of these is a promise.

A module that is renamed or goes needs a new major version of gpu_simulator, or a door; one that another package begins to
use is added here.
"""

import re

import gpu_simulator
from gpu_simulator.memory_limit import FORMER
from tests.test_architecture import file_imports
from tools.sizes import home

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


def test_the_simulator_names_no_variable_of_the_lab_but_the_former_one_of_its_memory():
    named = re.compile(r"GEMM_LAB_\w+")
    found = {
        (path.name, name)
        for path in home("gpu_simulator").rglob("*.py")
        if "tests" not in path.parts
        for name in named.findall(path.read_text(encoding="utf-8"))
    }
    assert found == {("memory_limit.py", FORMER)}


def test_the_versions_changes_are_told():
    told = (home("gpu_simulator") / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {gpu_simulator.__version__} " in told
