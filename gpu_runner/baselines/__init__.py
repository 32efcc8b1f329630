"""Libraries to compare with: cuBLAS, CUTLASS, torch.compile."""
