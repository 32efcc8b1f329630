"""The puzzles of notebook 05: functions to write, each tried at once with many arguments."""
