"""Notebook 12: the scoreboard; rounds of blocks, and the generations side by side."""
