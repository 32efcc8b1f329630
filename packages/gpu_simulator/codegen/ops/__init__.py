"""The code generators, one module for each instruction family. Importing this package registers them all."""

from gpu_simulator.codegen.ops import tell  # noqa: F401
from gpu_simulator.codegen.ops.matrix import (  # noqa: F401
    ldmatrix,  # noqa: F401
    mma,
    tcgen05,
    wgmma,
    wmma,
)
from gpu_simulator.codegen.ops.memory import (  # noqa: F401
    async_copy,
    atomic,
    bulk,
    load_store,  # noqa: F401
)
from gpu_simulator.codegen.ops.scalar import arithmetic, compare, convert, half, integer, logic, move, video  # noqa: F401
from gpu_simulator.codegen.ops.threads import calls, cluster_launch, mbarrier, sync, warp  # noqa: F401
from gpu_simulator.codegen.registry import FORMS


def supported() -> dict[str, str]:
    """The first part of each supported opcode, such as "mma" -> a description of its supported forms."""
    return dict(sorted(FORMS.items()))
