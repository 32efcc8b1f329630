"""PTX text as data: parser, instructions and operands, inlining of device functions, basic blocks."""
