"""Shares GPUs with many machines: a gateway with a fair queue, and a worker for each GPU (`gemm-lab serve`)."""
