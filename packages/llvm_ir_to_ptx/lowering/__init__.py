"""Writes the PTX for the instructions of LLVM IR, one file for each family of them."""
