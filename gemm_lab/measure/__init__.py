"""Is it right, and how fast is it: checks against a reference, benchmarks, recorded results."""

from gemm_lab.measure.results import record as append

__all__ = ["append"]
