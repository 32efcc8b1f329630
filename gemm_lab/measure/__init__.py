"""Checks of kernels against a reference, benchmarks, profiles, and recorded results."""

from gemm_lab.measure.results import record as append

__all__ = ["append"]
