"""Cards (HTML with a frame) of what was recorded or predicted."""
