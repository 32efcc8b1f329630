"""Notebook 00: a product in Python, in NumPy, and on a GPU.

Who computes what, and why neighbours should sit side by side.
"""
