"""`PtxReport`: a report whose lines are those of the PTX, for kernels that are given as PTX."""

from __future__ import annotations

from typing import Any

from gpu_simulator.report import Report, Site


class PtxReport:
    """A `Report` with another `sites_by_line`; everything else is the report's own."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def __getattr__(self, name: str) -> Any:
        return getattr(self._report, name)

    def sites_by_line(self, *files: str) -> dict[tuple[str, int], list[Site]]:
        """(file, line of the PTX) -> its sites, for the first of `files`."""
        groups: dict[tuple[str, int], list[Site]] = {}
        for site in self._report.sites:
            groups.setdefault((files[0], site.ptx_line), []).append(site)
        return groups
