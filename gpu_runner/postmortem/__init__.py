"""Why a kernel faulted or hung: it is run again with checks, and the answer names the line."""
