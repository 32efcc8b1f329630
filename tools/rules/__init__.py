"""Small kernels that show what a GPU does where PTX is silent or undefined, and what one GPU has answered.

Each file of `sources` is a rule. Its first lines say what the rule is and how the kernel is launched, and whether the
simulator reports the kernel, by an error or by a hazard:

    // What this shows.
    // launch: 1 block of 64 threads, 1024 bytes of dynamic shared memory, a map of 64 × 64 bf16 with boxes of 64 × 16
    // simulator: hazard, has ended
"""
