"""The puzzles of notebook 04: functions to write, each tried at once with many arguments."""
