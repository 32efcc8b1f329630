"""Instructions between threads: barriers, mbarriers, shuffles, clusters, calls."""
