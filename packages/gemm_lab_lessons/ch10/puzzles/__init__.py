"""The puzzles of notebooks 10b and 10c: clocks, energy, what a tile asks of L2, and the work of stream-K."""
