"""Notebooks 02a and 02b: tiling, first in Python with counted matrices, then on a GPU."""
