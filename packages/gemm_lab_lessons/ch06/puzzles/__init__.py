"""The puzzles of notebooks 06a and 06b: functions to write, each tried at once with many arguments."""
