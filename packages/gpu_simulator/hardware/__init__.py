"""What NVIDIA documents about the hardware: data sheets, banks, fragments, swizzles, descriptors, tensor maps."""
