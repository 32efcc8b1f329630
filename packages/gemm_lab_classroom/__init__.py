"""Tools for teachers: grading, assignments for nbgrader, and a gateway through which a class shares GPUs."""
