"""Instructions of single lanes: arithmetic, comparisons, conversions, bits."""
