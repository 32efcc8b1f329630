"""Checks and times kernels on a GPU, in rounds together with their baselines; reads clocks and power."""
