"""Notebook 13: eight bits, sums that keep thirteen, promotions and scales."""
