"""Checks of kernels against a reference, benchmarks, profiles, and recorded results."""
