"""A server's worker with a simulated GPU (`bad_gpu_operations`), which runs in a separate process."""

from gemm_lab_classroom.gateway.worker import Gpu, main
from gpu_runner.session import Session

FACTS = {"backend": "gpu", "name": "NVIDIA H200", "arch": "sm_90a", "sms": 132, "driver": [13, 0], "memory_gb": 150.1, "uuid": "GPU-1", "gpu": "h200"}  # fmt: skip


if __name__ == "__main__":
    main(lambda: FACTS, lambda: Gpu(lambda: Session("bad_gpu_operations", patience_s=20.0)))
