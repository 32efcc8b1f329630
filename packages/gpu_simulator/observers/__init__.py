"""Observers of a launch: the race detector with its checkers, and the inspection of registers and memory."""
