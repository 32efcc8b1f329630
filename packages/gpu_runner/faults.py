"""The errors of launches on a GPU. Where it is known, they name the learner's line, the thread and the block."""

from __future__ import annotations

from gpu_simulator.errors import SimulatorError

# Errors that stop a kernel and make its context unusable: CUDA's number -> CUDA's name, what happened.
FAULTS = {
    700: ("CUDA_ERROR_ILLEGAL_ADDRESS", "it accessed an address outside every array"),
    710: ("CUDA_ERROR_ASSERT", "a device-side assert failed"),
    714: ("CUDA_ERROR_HARDWARE_STACK_ERROR", "the hardware stack failed"),
    715: ("CUDA_ERROR_ILLEGAL_INSTRUCTION", "it met an illegal instruction"),
    716: ("CUDA_ERROR_MISALIGNED_ADDRESS", "it accessed a misaligned address"),
    717: ("CUDA_ERROR_INVALID_ADDRESS_SPACE", "it used an address of the wrong memory space"),
    718: ("CUDA_ERROR_INVALID_PC", "it jumped to an invalid instruction"),
    719: (
        "CUDA_ERROR_LAUNCH_FAILED",
        "it was stopped by a trap or by an access to shared or local memory that is not its own",
    ),
    721: ("CUDA_ERROR_TENSOR_MEMORY_LEAK", "it left tensor memory allocated"),
}


class RunnerError(SimulatorError):
    """What a GPU, its driver and libraries, or a GPU server refuse."""


class WorkerLost(RunnerError):
    """The process that owns the GPU ended or stopped answering; the next request starts a new one.

    `output` is what it had printed, device printf included (at most 64 KB).
    """

    def __init__(self, message: str, output: str = ""):
        super().__init__(message)
        self.output = output


class Silence(RunnerError):
    """The worker sent nothing for `seconds`. `running` says whether it had reported that a kernel was running."""

    def __init__(self, seconds: float, running: bool, output: str):
        super().__init__(
            f"The GPU worker was silent for {seconds:g} s and was stopped; the next request starts a new one."
        )
        self.seconds, self.running, self.output = seconds, running, output


class DeviceOutOfMemory(RunnerError):
    """A request needs more device memory than is free. `asked` and `free` are bytes; `asked` is 0 if unknown."""

    def __init__(self, asked: int, free: int):
        super().__init__(
            f"The GPU has {free / 2**20:,.0f} MB free and {asked / 2**20:,.0f} MB were asked for; "
            "use a smaller size, or close other programs that hold GPU memory."
            if asked
            else f"The GPU has {free / 2**20:,.0f} MB free, which is too little for this launch: its local arrays take "
            "their bytes once for every thread that can be resident. Use smaller arrays, or a smaller size."
        )
        self.asked, self.free = asked, free


class GpuBusy(RunnerError):
    """Other programs used the GPU for the whole time (`seconds`) that this program waits for it.

    `holder` says who is using it and for what, `before` how many more programs wait before this one.
    """

    def __init__(self, seconds: float, holder: str, before: int = 0):
        others = f" {before} more wait before you." if before else ""
        super().__init__(
            f"The GPU was in use for the {seconds:.0f} s that this run may wait: {holder}.{others} Try again, wait "
            "longer (GEMM_LAB_WAIT_S), or run on the simulator: "
            'run(…, backend="simulator"), or GEMM_LAB_BUSY=simulator.'
        )
        self.seconds, self.holder, self.before = seconds, holder, before


class KernelFault(RunnerError):
    """The GPU stopped a kernel: an address outside its arrays, a misaligned access, a trap.

    `kind` is the CUDA error's name, `detail` a sentence. `file`, `line` and `text` are the learner's source line; each
    is None where it is not known. `output` is what the worker printed.
    """

    def __init__(
        self,
        kind: str,
        detail: str,
        file: str | None = None,
        line: int | None = None,
        text: str | None = None,
        output: str = "",
    ):
        super().__init__(detail + _shown(text))
        self.kind, self.detail, self.file, self.line, self.text, self.output = kind, detail, file, line, text, output


class KernelHang(RunnerError):
    """A kernel did not finish within `seconds`. `file`, `line` and `text` say where it was found looping or waiting.

    Each of these is None where it is not known.
    """

    def __init__(
        self,
        seconds: float,
        detail: str = "",
        file: str | None = None,
        line: int | None = None,
        text: str | None = None,
        output: str = "",
    ):
        found = f"The kernel did not finish within {seconds:g} s and was stopped. {detail}".rstrip()
        super().__init__(found + _shown(text))
        self.seconds, self.detail, self.file, self.line, self.text = seconds, detail, file, line, text
        self.output = output


def _shown(text: str | None) -> str:
    """A source line below a sentence."""
    return f"\n    {text.strip()}" if text and text.strip() else ""
