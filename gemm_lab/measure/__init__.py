"""Checks of kernels against a reference, benchmarks, profiles, and recorded results."""

from gemm_results.results import record as append

__all__ = ["append"]
