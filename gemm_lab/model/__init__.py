"""What can be known with a pencil: NumPy models of tiling, memory, tensor cores and the machine. No CUDA here."""
