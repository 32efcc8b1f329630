"""Instructions of the tensor cores and those that load their fragments."""
