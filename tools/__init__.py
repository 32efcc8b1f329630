"""Programs for the authors of the series: figures, synchronised text, recordings, wrong answers. Not in the wheel."""
