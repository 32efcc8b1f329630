"""Notebook 01: the memory wall, the balance point, and the roofline of a block tile."""
