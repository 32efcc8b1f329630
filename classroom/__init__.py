"""For teachers: grading, assignments for nbgrader, and the gateway before a shared GPU."""
