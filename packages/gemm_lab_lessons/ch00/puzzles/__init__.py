"""The puzzles of notebook 00: functions to write, each tried at once with many arguments."""
