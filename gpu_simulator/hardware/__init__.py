"""What NVIDIA's documents say of the hardware: data sheets, banks, fragments, swizzles, descriptors, tensor maps."""
