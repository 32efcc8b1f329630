"""Models of tiling, memory, tensor cores and GPUs, in NumPy and plain Python. Nothing here needs CUDA or a GPU."""
