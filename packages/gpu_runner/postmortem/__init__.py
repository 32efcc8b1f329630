"""Finds the source line at which a kernel faulted or hung, by running it again with checks."""
