"""Instructions of the tensor cores, and those that load and store their fragments."""
