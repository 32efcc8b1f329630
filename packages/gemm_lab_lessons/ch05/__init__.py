"""Notebook 05: padding and swizzling, and how an address is rearranged."""
