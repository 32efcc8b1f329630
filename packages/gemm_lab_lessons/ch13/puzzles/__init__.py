"""The puzzles of notebook 13: E4M3, the sum of a tensor core, where it fails, scales and where they lie."""
