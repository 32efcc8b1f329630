"""The checks of tcgen05: tensor memory, collector buffers, and what orders them."""
