"""Instructions that involve several threads: barriers, mbarriers, shuffles, clusters; and calls."""
