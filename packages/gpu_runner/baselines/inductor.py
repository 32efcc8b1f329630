"""PyTorch's Inductor as a second baseline: `torch.compile` with Triton as the only GEMM backend.

It runs in the worker and uses the same device memory, which PyTorch accesses by `__cuda_array_interface__`.
"""

from __future__ import annotations

from collections.abc import Callable

from gpu_runner.driver import Buffer
from gpu_simulator.errors import MissingDependency


class _View:
    """Lets PyTorch use a buffer as a tensor. 16-bit elements are declared as int16 and reinterpreted afterwards."""

    def __init__(self, buffer: Buffer, shape: tuple[int, int], dtype: str):
        code = "<f4" if dtype == "f32" else "<i2"
        self.keep = buffer
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": code,
            "data": (buffer.address, False),
            "version": 2,
            "strides": None,
        }


def why_not() -> str | None:
    """None if Inductor can be timed here, otherwise a sentence that says what is missing."""
    try:
        import torch
    except ImportError:
        return "PyTorch is not installed, so there is no Inductor baseline; install it with `pip install torch`."
    if not torch.cuda.is_available():
        return "This PyTorch was built without CUDA, so there is no Inductor baseline; install a CUDA build of torch."
    try:
        import triton  # noqa: F401
    except ImportError:
        return "Triton is not installed, so there is no Inductor baseline; install it with `pip install triton`."
    return None


def product(
    buffers: list[tuple[Buffer, Buffer, Buffer]],
    shapes: tuple[tuple[int, int], ...],
    dtype: str,
    layouts: tuple[str, str],
) -> list[Callable[[], None]]:
    """One callable for each (a, b, d) in `buffers`; it computes A·B by replaying a CUDA graph of the compiled product.

    Its attribute `deliver` is a function that copies the last product into D. `shapes` are those of a, b and d in
    memory; a column-major operand is passed to PyTorch as a transposed view, without a copy. Raises MissingDependency
    with the sentence of `why_not()`.
    """
    missing = why_not()
    if missing:
        raise MissingDependency(missing)
    import torch
    import torch._inductor.config as settings

    settings.max_autotune_gemm_backends = "TRITON"
    kind = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype]

    def tensor(buffer: Buffer, shape: tuple[int, int]):
        adopted = torch.as_tensor(_View(buffer, shape, dtype), device="cuda")
        return adopted if dtype == "f32" else adopted.view(kind)

    def multiply(a, b):
        return torch.mm(a, b)

    torch._dynamo.reset()
    compiled = torch.compile(
        multiply,
        dynamic=False,
        options={
            "max_autotune": True,
            "max_autotune_gemm": True,
            "max_autotune_gemm_backends": "TRITON",
            "triton.cudagraphs": False,
        },
    )
    calls = []
    for set_ in buffers:
        a, b, d = (tensor(buffer, shape) for buffer, shape in zip(set_, shapes, strict=True))
        a, b = a if layouts[0] == "row" else a.t(), b if layouts[1] == "row" else b.t()
        with torch.no_grad():
            for _ in range(3):
                compiled(a, b)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = compiled(a, b)
        calls.append(_replay(graph, result, d, (a, b)))
    return calls


def _replay(graph, result, d, keep) -> Callable[[], None]:
    def start() -> None:
        graph.replay()

    def deliver() -> None:
        """Copy the last product into D, for the check."""
        d.copy_(result)

    start.deliver, start.keep = deliver, (keep, result)
    return start
