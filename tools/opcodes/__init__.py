"""Compares the simulator with the hardware, opcode by opcode: one-instruction kernels and their results on an H200.

`cases.all_cases` lists the kernels; `recording` runs them and stores the results. To record, type
`python -m tools.opcodes --record FOLDER`; this also asks the GPU for the rules of `tools.rules`.
"""
