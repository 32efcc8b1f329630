"""Sends requests and results between processes and machines: data only, no code."""
