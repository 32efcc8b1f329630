"""Runs the libraries that kernels are compared with: cuBLAS, CUTLASS, torch.compile."""
