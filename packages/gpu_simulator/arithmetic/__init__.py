"""Floating-point arithmetic that is rounded exactly once, in NumPy."""
