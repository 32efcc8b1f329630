"""Notebook 06: the ladder of the T4."""
