"""What a pencil can find out: NumPy models of tiling, memory, tensor cores and the machine. No CUDA here."""
