"""Reads the text of LLVM IR: types, values, instructions, and the module with its source positions."""
