"""The puzzles of notebook 01: functions to write, each tried at once with many arguments."""
