"""Which other layouts of a shared array would cost fewer wavefronts: tried on the addresses that a launch recorded."""
