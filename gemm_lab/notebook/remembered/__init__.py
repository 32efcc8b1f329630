"""What the lab remembers of a learner: what is solved, what was predicted."""
