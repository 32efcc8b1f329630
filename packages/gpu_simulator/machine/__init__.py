"""The simulated machine: resident blocks, their memories, barriers and asynchronous units."""
