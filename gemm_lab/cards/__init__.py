"""Tables and cards (HTML with a frame) that a notebook shows."""
