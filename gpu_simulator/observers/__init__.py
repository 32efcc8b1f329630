"""What watches a launch: the race detector with its checkers, and inspection of registers."""
