"""The puzzles of notebook 07: functions to write, each tried at once with many arguments."""
