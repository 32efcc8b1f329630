"""The zoom: one product, from the matrices in DRAM down to the bits of one address.

It goes over the recorded steps of a kernel.
"""
