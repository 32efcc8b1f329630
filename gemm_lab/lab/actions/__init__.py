"""Implements the longer methods of `gemm_lab.lab.kernel.Kernel`."""
