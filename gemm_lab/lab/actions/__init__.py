"""What a Kernel does: one file for each method of `gemm_lab.lab.kernel.Kernel` that is more than a line."""
