"""Notebook 09: the ladder that uses WMMA."""
