"""What is used although nothing has written it: registers, memory, variables of the module."""
