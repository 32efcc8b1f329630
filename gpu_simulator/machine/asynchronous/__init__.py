"""Units that work beside the threads: bulk copies, wgmma, tcgen05 and its tensor memory."""
