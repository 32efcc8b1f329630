"""Reads results/published.csv: the figures that published texts print, and their true share of the peak."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gemm_results.data_folders import data_dir
from gemm_results.profile import read_rows, typed
from gpu_simulator.hardware.data_sheets import gpu

# Texts whose percentages refer to the peak of another input type than the one they multiply: {source: type}.
TAKEN_AGAINST = {"h100_wmma": "tf32"}


@dataclass(frozen=True)
class Published:
    """One row of results/published.csv: figures as the text `source` prints them, None if it gives none."""

    kernel: str
    gpu: str
    n: int | None
    dtype: str
    tflops: float | None
    percent_of_peak: float | None
    percent_of_cublas: float | None
    source: str
    note: str

    @property
    def speed(self) -> float | None:
        """TFLOPS as printed, or computed from the printed percentage of the peak; None if neither is given."""
        if self.tflops is not None or self.percent_of_peak is None:
            return self.tflops
        return self.percent_of_peak / 100 * self._peak(TAKEN_AGAINST.get(self.source, self.dtype))

    @property
    def share_of_peak(self) -> float | None:
        """Percent of the dense peak of the type that is multiplied, with FP32 accumulation; None without a speed."""
        return None if self.speed is None else 100 * self.speed / self._peak(self.dtype)

    def _peak(self, dtype: str) -> float:
        machine = gpu(self.gpu)
        return machine.fp32_tflops if dtype == "f32" else machine.peak(dtype, "f32")


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """All rows of results/published.csv. Raises `LabError`, with the line, for one that cannot be read."""
    return tuple(typed(Published, row) for row in read_rows(data_dir("results") / "published.csv"))
