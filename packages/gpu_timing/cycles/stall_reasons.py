"""Why a warp does not issue: the reasons of Nsight Compute, by number."""

REASONS = (
    "selected", "wait", "long_scoreboard", "short_scoreboard", "barrier", "math_pipe_throttle", "mio_throttle",
    "lg_throttle", "not_selected", "branch_resolving", "gmma", "membar", "dispatch_stall",
)  # fmt: skip
(SELECTED, WAIT, LONG, SHORT, BARRIER, MATH, MIO, LG, NOT_SELECTED, BRANCH, GMMA, MEMBAR, DISPATCH) = range(
    len(REASONS)
)
