"""What only authors run: figures, synchronised text, recordings, wrong answers. Not in the wheel."""
