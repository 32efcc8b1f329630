"""Shares GPUs with many machines: a Dask scheduler with a fair queue, and a worker for each GPU (`gemm-lab serve`)."""
