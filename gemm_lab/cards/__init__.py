"""Tables and cards that a notebook shows."""
