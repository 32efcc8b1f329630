"""What only authors run: figures, synchronised text, recordings, wrong answers, mutants. Not in the wheel."""
