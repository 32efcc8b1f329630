"""Records the schedule of a launch: what each warp requests and what it waits for, without times."""
