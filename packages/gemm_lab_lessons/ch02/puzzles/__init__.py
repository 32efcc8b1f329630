"""The puzzles of notebook 02: functions to write, each tried at once with many arguments."""
