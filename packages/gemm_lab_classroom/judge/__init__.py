"""What a grade asks of a kernel beyond a learner's own check."""
