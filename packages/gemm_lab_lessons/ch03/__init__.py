"""Notebook 03: tensor cores, and which lane holds which element of a fragment."""
