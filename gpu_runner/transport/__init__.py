"""How requests and results travel between processes and machines: data only, no code."""
