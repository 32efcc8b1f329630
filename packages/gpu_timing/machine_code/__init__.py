"""Reads machine code: main loops, the order and the classes of instructions, reused addresses, detours."""
