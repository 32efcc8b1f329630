"""Plots of results: ladder, sizes, roofline, machine code. Each function returns a matplotlib Figure.

Speeds are in TFLOPS, sizes in elements, bandwidths in GB/s, clocks in MHz. A measurement is any object that has the
columns of `results/measured/<gpu>.csv` as attributes.
"""

from gemm_results.plots.bench import bench
from gemm_results.plots.code_strip import code_strip
from gemm_results.plots.rooflines import roofline
from gemm_results.plots.speed import ladder, sizes
from gemm_results.plots.timeline import timeline

__all__ = [
    "bench",
    "code_strip",
    "ladder",
    "roofline",
    "sizes",
    "timeline",
]
