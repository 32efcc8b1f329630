"""The puzzles of notebook 03: functions to write, each tried at once with many arguments."""
