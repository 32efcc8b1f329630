"""`studied_launch`: one launch of a kernel, with its addresses recorded and other layouts of its arrays tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gpu_simulator.codegen.program import program_of
from gpu_simulator.kernel_file import KernelFile
from gpu_simulator.launch_checks import check_dtypes
from gpu_simulator.launching import Extent, ObserverOf, launch
from gpu_simulator.layouts.recorded_accesses import RecordedAccesses
from gpu_simulator.layouts.trials import ArrayStudy, studies
from gpu_simulator.report import Report


class StudiedLaunch(NamedTuple):
    """report: as `launch` gives it.   studies: of each shared array, the worst first.   smem_bytes: of a block."""

    report: Report
    studies: list[ArrayStudy]
    recorded: RecordedAccesses
    smem_bytes: int


def studied_launch(
    kernel: KernelFile,
    grid: Extent = (1, 1, 1),
    block: Extent = (1, 1, 1),
    args: Sequence[Any] = (),
    *,
    defines: Mapping[str, Any] | None = None,
    rows: Mapping[str, int] | None = None,
    observers: Iterable[str | ObserverOf] = (),
    **options: Any,
) -> StudiedLaunch:
    """Launch a kernel, and try other layouts for its shared arrays.

    kernel: what `simulating.compiled_kernel` gives.   defines: the macros with which it was compiled.   rows: as for
    `studies`.   observers, options: further keyword arguments of `launch`. Raises the errors of `simulating.simulate`.
    """
    check_dtypes(kernel.entry, kernel.text, args)
    recorded = RecordedAccesses()
    report = launch(
        kernel.program, kernel.entry, grid, block, args, observers=[recorded.observe, *observers], **options
    )
    found = studied(report, kernel, recorded, defines, rows)
    return StudiedLaunch(report, found, recorded, report._launch.smem_bytes)


def studied(
    report: Report,
    kernel: KernelFile,
    recorded: RecordedAccesses,
    defines: Mapping[str, Any] | None = None,
    rows: Mapping[str, int] | None = None,
) -> list[ArrayStudy]:
    """The studies of a launch of `kernel` that `recorded` has observed; defines, rows: as for `studied_launch`."""
    ptx = kernel.program if isinstance(kernel.program, str) else kernel.program.ptx
    program = program_of(ptx, kernel.entry)
    return studies(report, program, report._launch.smem_bytes, recorded, kernel.text, defines, rows)
