"""`python -m gpu_simulator FILE`: what a person types, and what the terminal shows."""
