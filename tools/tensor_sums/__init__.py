"""Compares the rules of `gpu_simulator.hardware.exact_sums` with what a GPU's tensor cores compute, bit for bit."""
