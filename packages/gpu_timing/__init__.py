"""How long a kernel takes: predicted cycles, and the order of what its warps do without times. It draws nothing."""
