"""The puzzles of notebook 08: functions to write, each tried at once with many arguments."""
