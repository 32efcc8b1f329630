"""The machine code of each architecture: every warp's path ends, and the products are as many as the problem needs."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.lab.actions.predicting import product_of
from gpu_simulator.hardware import data_sheets
from gpu_simulator.hardware.instruction_descriptor import InstructionDescriptor
from gpu_timing.cycles.asynchronous_units import AsynchronousUnits
from gpu_timing.cycles.constants_file import constants
from gpu_timing.cycles.pipes import tcgen05_shape
from gpu_timing.cycles.tracing import Access, trace

N = 512
LADDERS = {
    "t4": ("t4", "first_kernels", "simt"),
    "a100": ("ampere", "t4", "first_kernels", "simt"),
    "rtx5090": ("rtx5090", "ampere", "first_kernels", "simt"),
    "b200": ("b200",),
}
KERNELS = [(key, spec.name) for key, names in LADDERS.items() for one in names for spec in catalog.ladder(one).kernels]
FLOP = {"1688": 2 * 16 * 8 * 8, "16816": 2 * 16 * 8 * 16}


def traced(name, key, n=N):
    sheet, kernel = data_sheets.gpu(key), lab.kernel(name)
    compiled = kernel.compile(sheet.arch)
    launch = product_of(kernel, compiled, n, n, n, sheet.sms).launch(n, n)
    return trace(compiled, sheet.arch, launch), launch


def flop_of(found, ladder):
    total = 0
    for path, accesses in zip(found.paths, found.accesses, strict=True):
        times = np.bincount(path, minlength=len(found.code))
        for one in found.code:
            if one.op == "HMMA":
                total += int(times[one.index]) * FLOP[one.modifiers[0]]
            elif one.op == "FFMA" and ladder == "simt":
                total += int(times[one.index]) * 64
        descriptors = [access.amount for access in accesses if access is not None and access.amount >> 24 & 31]
        products = [found.code[i] for i in path if found.code[i].op == "UTCHMMA"]
        for one, descriptor in zip(products, descriptors, strict=False):
            m, n, blocks = tcgen05_shape(one, descriptor)
            total += 2 * m * n * 16 // blocks
    return total


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("key", "name"), KERNELS)
def test_a_block_times_the_grid_multiplies_the_whole_problem(key, name):
    found, launch = traced(name, key)
    assert not found.unknown
    assert flop_of(found, name.split("/")[0]) * int(np.prod(launch.grid)) == 2 * N**3


def test_the_first_block_of_a_pair_issues_the_products_of_both():
    found, launch = traced("b200/04_cta_pairs", "b200")
    assert launch.cluster == (2, 1, 1)
    products = [i for path in found.paths for i in path if found.code[i].op == "UTCHMMA"]
    assert len(products) == N // 16 and all("2CTA" in found.code[i].modifiers for i in products)


@cache
def on_b200(name):
    return lab.kernel(name).predict(on="b200", n=4096)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", [spec.name for spec in catalog.ladder("b200").kernels])
def test_every_rung_of_tcgen05_is_predicted(name):
    found = on_b200(name)
    assert not found.prediction.unknown
    assert 0 < 2e-12 * 4096**3 / found.prediction.seconds < data_sheets.gpu("b200").peak("bf16", "f32")
    assert found.tflops is None, "nothing was recorded on a B200"


def test_waiting_for_every_product_costs_time():
    slow, fast = (on_b200(f"b200/{name}") for name in ("01_synchronous", "02_pipelined"))
    assert slow.cycles > fast.cycles


@pytest.mark.parametrize(("columns", "published"), [(64, 48.6), (128, 64.6), (256, 128.6)])
def test_products_take_the_published_cycles(columns, published):
    """One block, M = 128, both operands in shared memory: SemiAnalysis, microbench-blackwell. A is read each time."""
    code = [SimpleNamespace(op="UTCHMMA", modifiers=())]
    unit = SimpleNamespace(code=code, of=constants("b200"), products_free=0.0, products_done=[0.0], busy=[0.0] * 8)
    descriptor = InstructionDescriptor(128, columns).encode()
    AsynchronousUnits._tcgen05(unit, 0, 0, Access(amount=descriptor), 0.0)
    assert unit.products_free == pytest.approx(published, rel=0.02)
