"""Recordings of a GPU, which notebooks and tests read afterwards: speeds, counters, timelines."""
