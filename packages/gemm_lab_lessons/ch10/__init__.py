"""Notebook 10: the ladder of Hopper: wgmma, clusters, and the order of the blocks."""
