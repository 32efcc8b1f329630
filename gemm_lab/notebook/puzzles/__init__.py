"""Puzzles: small Python functions that the learner writes in a notebook, each tried at once with many arguments.

    @lab.puzzle("04_bank")
    def bank(address):
        return ...

A puzzle is practice, not a graded exercise: a grade never executes a student's Python. The modules of this folder hold
the puzzles of one notebook each. A solution of every puzzle is in notebooks/puzzles.
"""
