"""Decides whether an answer to an exercise is right."""
