"""The schedule of a launch: which warp asks for what and who waits for whom, without times."""
