"""Fences between ordinary accesses and those of the asynchronous proxy."""
