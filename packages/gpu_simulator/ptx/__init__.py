"""Turns PTX text into data: parser, instructions and operands, inlining of device functions, basic blocks."""
