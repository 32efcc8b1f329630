"""Notebook 11: the ladder of Blackwell: tcgen05."""
