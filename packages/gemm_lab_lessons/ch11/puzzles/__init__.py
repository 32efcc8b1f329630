"""The puzzles of notebook 11b: what stands between the ladders and a kernel of one's own, and that kernel."""
