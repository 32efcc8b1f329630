"""The layouts that are advised for a rung with bank conflicts are those of the rung that mends them."""

import pytest

import gemm_lab as lab
from gemm_lab.measure.inputs import make_inputs
from gpu_simulator.kernel_file import KernelFile
from gpu_simulator.layouts.studied_launch import studied_launch

N = 256


def studies_of(name):
    kernel = lab.kernel(name)
    compiled, inputs = kernel.compile_as_taught(), make_inputs(kernel.problem, N, N, N, "integers", 0)
    found = KernelFile(compiled, compiled.entry, kernel.source, kernel.spec.file)
    launch = (kernel.grid(N, N, N), (compiled.threads, 1, 1), inputs.arguments())
    made = studied_launch(found, *launch, defines=kernel.config, cluster=kernel.spec.cluster)
    return {study.array.name: study for study in made.studies}


@pytest.mark.parametrize(
    "before, after", [("t4/02_vectorized_copy", "t4/03_swizzled"), ("ampere/02_cp_async", "ampere/04_swizzled")]
)
def test_the_best_swizzle_takes_what_the_swizzled_rung_takes(before, after):
    plain, swizzled = studies_of(before), studies_of(after)
    assert set(plain) == set(swizzled) == {"smem_a", "smem_b"}
    for name, study in plain.items():
        assert study.best[0].total == swizzled[name].total < study.total / 4
        assert not swizzled[name].excess and not swizzled[name].best


def test_a_tile_of_wgmma_is_one_array_that_is_left_as_it_is():
    for study in studies_of("hopper/01_wgmma").values():
        assert not study.best and study.why_not.startswith("wgmma or tcgen05 address it")
