"""Translates PTX to Python: one generated NumPy function for each basic block."""
