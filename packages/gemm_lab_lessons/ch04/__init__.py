"""Notebook 04: the banks of shared memory, and the wavefronts of an access."""
