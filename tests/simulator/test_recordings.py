"""The simulator beside Nsight Compute on an H200: every rung at 512³. The address patterns: test_recorded_patterns.py.

The recordings are results/profiles/h200/*.csv, made by `tools.recording`. What ptxas changes between PTX and
machine code is listed here with its reason; everything else must be equal. A row of a source that has changed since is
compared too, but may differ until it is recorded again.
"""

import csv

import numpy as np
import pytest

import gpu_simulator
from gemm_lab.config import data_dir
from gemm_lab.lab.kernel import kernel
from gemm_lab.measure.inputs import make_inputs, reference
from gemm_results.profile import source_hash
from gpu_simulator import compiler

PTXAS_CHANGES = {
    # ptxas joins the reads of four neighbouring k of smem_a[thread_m][k] into one LDS.128: fewer, wider requests.
    ("simt/03_shared_memory_tiles", "wavefronts"): "LDS.128",
    ("simt/03_shared_memory_tiles", "ideal_wavefronts"): "LDS.128",
    # Four st.global.u32 to neighbouring words, which is what NVRTC makes of some of the 16-byte stores, are one STG.128.
    **{
        (name, counter): "STG.E.128"
        for counter in ("store_requests", "store_sectors")
        for name in (
            "hopper/01_wgmma",
            "hopper/02_tma",
            "hopper/03_producer",
            "hopper/04_two_consumers",
            "hopper/05_persistent",
            "hopper/06_clusters",
            "rtx5090/03_persistent",
        )
    },
}


def recorded(name: str) -> list[dict[str, str]]:
    with (data_dir("results") / "profiles" / "h200" / name).open(newline="") as file:
        return list(csv.DictReader(file))


RUNGS = recorded("rungs.csv")


@pytest.mark.sampled(every=24, first=1)
@pytest.mark.parametrize("row", RUNGS, ids=lambda row: row["kernel"])
def test_a_rung_counts_what_the_hardware_counted(row):
    made, n = kernel(row["kernel"]), int(row["n"])
    made = made(**made.spec.configure())
    compiled = made.compile("sm_90a")
    inputs = make_inputs(made.problem, n, n, n, "integers", 0)
    args = inputs.arguments()
    report = gpu_simulator.launch(
        compiled, "gemm", made.grid(n, n, n), (compiled.threads, 1, 1), args, cluster=made.spec.cluster
    )
    assert np.array_equal(inputs.d, reference(inputs).astype(inputs.d.dtype))
    loads = [
        site
        for site in report.sites
        if site.opcode.startswith(("ld.global", "cp.async")) and not site.opcode.startswith("cp.async.bulk")
    ]
    stores = [site for site in report.sites if site.opcode.startswith(("st.global", "wmma.store")) and site.sectors]
    counted = {
        "wavefronts": report.totals.wavefronts,
        "ideal_wavefronts": report.totals.ideal_wavefronts,
        "load_requests": sum(site.requests for site in loads),
        "load_sectors": sum(site.sectors for site in loads),
        "store_requests": sum(site.requests for site in stores),
        "store_sectors": sum(site.sectors for site in stores),
    }
    if row["source"] not in ("", source_hash(compiled)) and any(int(row[key]) != counted[key] for key in counted):
        pytest.skip("recorded of an earlier text")
    for name, value in counted.items():
        if (row["kernel"], name) in PTXAS_CHANGES:
            opcodes = " ".join(line.opcode for line in compiler.disassemble(compiled))
            assert PTXAS_CHANGES[row["kernel"], name] in opcodes and value != int(row[name])
            continue
        assert value == int(row[name]), name


def test_most_rows_are_of_the_sources_as_they_are():
    stale = [row["kernel"] for row in RUNGS if row["source"] != source_hash(current(row["kernel"]))]
    assert len(stale) <= len(RUNGS) // 4, stale


def current(name: str):
    made = kernel(name)
    return made(**made.spec.configure()).compile("sm_90a")


def test_tensor_cores_that_read_shared_memory_are_in_the_recorded_counts():
    """Each wgmma of m64n128k16 costs its 48 wavefronts in the count of Nsight Compute, and TMA none."""
    (row,) = [row for row in RUNGS if row["kernel"] == "hopper/02_tma"]
    multiplications = int(row["tensor_instructions"]) // 4  # of a warp each
    assert int(row["wavefronts"]) == 48 * multiplications == int(row["ideal_wavefronts"])


def test_few_differences_are_explained_away():
    assert len(set(PTXAS_CHANGES.values())) <= 3
