"""Notebook 07: the ladder of Ampere, and the roofline of shared memory."""
