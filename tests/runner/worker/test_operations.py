"""The worker's operations over a CuPy made of Python: arguments, layouts, checks, turns, errors."""

import ctypes
from multiprocessing import Pipe
from types import SimpleNamespace

import numpy as np
import pytest
from fake_cupy import C_FLOAT, C_INT, POINTER, view
from worker_runs import ARGUMENTS, COMPILED, TYPES, gemm_of, problem, verify_payload

import gpu_runner
from gemm_lab.measure import check as checking
from gemm_lab.measure.bounds import bound, element_limits
from gemm_lab.measure.check import judge, wire_problem
from gpu_runner import operations
from gpu_runner.baselines import cublas
from gpu_runner.driver import NON_PORTABLE_CLUSTER, DriverError
from gpu_runner.faults import DeviceOutOfMemory, KernelFault
from gpu_runner.timing import rounds as timing
from gpu_runner.transport import wire
from gpu_simulator.errors import LaunchError, SimulatorError


def test_a_launch_passes_pointers_ints_and_floats_and_returns_arrays(worker):
    def body(d, n, scale):
        view(d, n, "f32")[:] *= scale

    made = worker({"gemm": ((POINTER, C_INT, C_FLOAT), body)})
    array = np.arange(6, dtype=np.float32)
    answer = operations.launch(made.context, compiled=COMPILED, grid=(2, 1, 1), args=[array, 6, 0.5])
    assert np.array_equal(answer["arrays"][0], array / 2) and answer["milliseconds"] == 0.5
    assert made.cuda.launches == [("gemm", (2, 1, 1), 128, None)] and made.cuda.used == 0
    assert made.context.reports == [{"stage": "running"}]


def test_a_struct_by_value_is_aligned_to_64_bytes(worker):
    seen = []
    made = worker({"gemm": ((ctypes.c_char * 128,), lambda raw: seen.append(raw))})
    function = made.gpu.kernel(COMPILED)
    start = made.gpu.launcher(function, (1, 1, 1), [bytes(range(1, 129))])
    start()
    assert seen == [bytes(range(1, 129))] and start.keep[0][0].ctypes.data % 64 == 0


def test_a_cluster_goes_through_the_extended_launch(worker):
    made = worker({"gemm": ((C_INT,), lambda n: None)})
    operations.launch(made.context, compiled=COMPILED, grid=(4, 1, 1), args=[7], cluster=(2, 1, 1))
    assert made.cuda.launches == [("gemm", (4, 1, 1), 128, (2, 1, 1))]


def test_a_struct_reaches_a_clustered_kernel_and_a_large_cluster_is_allowed_first(worker):
    seen = []
    made = worker({"gemm": ((ctypes.c_char * 128, C_INT), lambda raw, n: seen.append((raw, n)))})
    start = made.gpu.launcher(made.gpu.kernel(COMPILED), (16, 1, 1), [bytes(range(1, 129)), -3], (16, 1, 1))
    start()
    start()
    assert seen == [(bytes(range(1, 129)), -3)] * 2 and made.cuda.launches[-1][3] == (16, 1, 1)
    assert made.cuda.driver.attributes == [("gemm", NON_PORTABLE_CLUSTER, 1)]


def test_a_clustered_kernel_that_does_not_fit_is_refused_with_a_sentence(worker):
    made = worker({"gemm": ((C_INT,), lambda n: None)})
    large = {**COMPILED, "threads": 1024}
    with pytest.raises(LaunchError, match=r"exceed one SM.*fewer threads|cluster \(2, 1, 1\)"):
        operations.launch(made.context, compiled=large, grid=(4, 1, 1), args=[7], cluster=(2, 1, 1))


@pytest.mark.parametrize(
    ("grid", "cluster", "sentence"),
    [
        ((5, 1, 1), (2, 1, 1), r"not made of whole clusters of 2 × 1 × 1 blocks; \(6, 1, 1\) is"),
        ((4, 3, 1), (2, 2, 1), r"whole clusters of 2 × 2 × 1 blocks; \(4, 4, 1\) is"),
        ((32, 1, 1), (32, 1, 1), "a cluster has 1 to 16, and 8 on every GPU"),
    ],
)
def test_a_grid_of_broken_clusters_is_refused_before_the_driver_sees_it(worker, grid, cluster, sentence):
    made = worker({"gemm": ((C_INT,), lambda n: None)})
    with pytest.raises(LaunchError, match=sentence):
        operations.launch(made.context, compiled=COMPILED, grid=grid, args=[7], cluster=cluster)
    assert made.cuda.launches == []


def test_shared_memory_beyond_the_default_is_allowed_before_a_cluster_starts(worker):
    made = worker({"gemm": ((C_INT,), lambda n: None)})
    large = {**COMPILED, "dynamic_smem": 200 * 1024}
    operations.launch(made.context, compiled=large, grid=(4, 1, 1), args=[7], cluster=(2, 1, 1))
    maximum = made.cuda.driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    assert made.cuda.driver.attributes == [("gemm", maximum, 200 * 1024)] and len(made.cuda.launches) == 1


def test_a_cubin_that_the_driver_refuses_says_for_what_it_was_compiled(worker):
    made = worker({"gemm": ((C_INT,), lambda n: None)})
    made.cuda.refuse_image = lambda image: 209
    with pytest.raises(LaunchError, match="does not load t4/x .CUDA_ERROR_209.*compiled for sm_90"):
        operations.launch(made.context, compiled=COMPILED, grid=(4, 1, 1), args=[7])


@pytest.mark.parametrize(("kind", "value"), [
    (ctypes.c_uint64, np.uint64(4611686293322088704)), (ctypes.c_uint64, np.uint64(2**64 - 1)),
    (ctypes.c_int64, np.int64(-(2**40))), (ctypes.c_int64, np.int64(5)), (ctypes.c_double, np.float64(0.1)),
])  # fmt: skip
def test_a_parameter_of_eight_bytes_takes_numpys_numbers_of_64_bits(worker, kind, value):
    taken = []
    made = worker({"gemm": ((kind, C_INT), lambda word, n: taken.append((word, n)))})
    here, there = Pipe()
    wire.send(here, {"args": [value, np.int64(7)]})
    args = wire.receive(there)["args"]
    operations.launch(made.context, compiled={**COMPILED, "parameters": (8, 4)}, grid=(1, 1, 1), args=args)
    assert taken == [(value.item(), 7)]


@pytest.mark.parametrize(("value", "sentence"), [
    (2**40, r"does not fit a C int; .* 8 bytes, pass np.uint64\(1099511627776\)"), (-(2**40), r"pass np.int64\(-"),
    (5, "Parameter 1 of t4/x has 8 bytes and its argument 4.*np.int64 or np.uint64"),
])  # fmt: skip
def test_a_plain_number_for_eight_bytes_is_refused_with_what_to_pass(worker, value, sentence):
    made = worker({"gemm": ((ctypes.c_uint64,), lambda word: None)})
    with pytest.raises(LaunchError, match=sentence):
        operations.launch(made.context, compiled={**COMPILED, "parameters": (8,)}, grid=(1, 1, 1), args=[value])


def test_a_number_of_64_bits_that_does_not_fit_an_int_parameter_is_refused(worker):
    made = worker({"gemm": ((C_INT,), lambda n: None)})
    with pytest.raises(LaunchError, match="does not fit a C int"):
        operations.launch(
            made.context, compiled={**COMPILED, "parameters": (4,)}, grid=(1, 1, 1), args=[np.uint64(2**40)]
        )


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, "text", None])
def test_an_argument_that_no_kernel_takes_is_refused(worker, value):
    made = worker({"gemm": ((C_INT,), lambda n: None)})
    with pytest.raises(LaunchError, match="argument"):
        operations.launch(made.context, compiled=COMPILED, grid=(1, 1, 1), args=[value])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"arch": "sm_75"}, "GPUs 7.5 to 7.9"),
        ({"arch": "sm_100a"}, "exactly that architecture"),
        ({"threads": 2048}, "1 to 1,024"),
        ({"threads": 1024}, "exceed one SM"),
        ({"dynamic_smem": 300000}, "at most 232,448"),
    ],
)
def test_what_cannot_start_is_refused_with_a_sentence(worker, change, words):
    made = worker({"gemm": ((C_INT,), lambda n: None)})
    with pytest.raises(LaunchError, match=words):
        operations.launch(made.context, compiled={**COMPILED, **change}, grid=(1, 1, 1), args=[1])


@pytest.mark.parametrize("grid", [(0, 1, 1), (1, 70000, 1)])
def test_an_impossible_grid_is_refused(worker, grid):
    made = worker({"gemm": ((C_INT,), lambda n: None)})
    with pytest.raises(LaunchError, match="grid"):
        operations.launch(made.context, compiled=COMPILED, grid=grid, args=[1])


def test_too_little_memory_says_how_much_is_free(worker):
    made = worker({"gemm": ((POINTER,), lambda d: None)}, free=2**20)
    with pytest.raises(DeviceOutOfMemory, match="1 MB free and 4 MB") as error:
        operations.launch(made.context, compiled=COMPILED, grid=(1, 1, 1), args=[np.zeros(2**20, np.float32)])
    assert error.value.asked == 2**22


def test_a_fault_is_named(worker):
    made = worker({"gemm": ((POINTER,), lambda d: 700)})
    with pytest.raises(KernelFault, match="outside every array") as error:
        operations.launch(made.context, compiled=COMPILED, grid=(1, 1, 1), args=[np.zeros(4, np.float32)])
    assert error.value.kind == "CUDA_ERROR_ILLEGAL_ADDRESS"


def test_an_error_that_is_no_fault_of_the_kernel_keeps_its_number(worker):
    made = worker({"gemm": ((POINTER,), lambda d: 999)})
    with pytest.raises(DriverError, match="cudaError999") as error:
        operations.launch(made.context, compiled=COMPILED, grid=(1, 1, 1), args=[np.zeros(4, np.float32)])
    assert error.value.code == 999


def test_inputs_that_do_not_fit_leave_nothing_behind(worker):
    what = problem()
    made = worker({"gemm": (TYPES, gemm_of(what))}, free=20000)
    with pytest.raises(DeviceOutOfMemory):
        operations.verify(made.context, **verify_payload(what))
    assert made.cuda.used == 0


def test_a_kernel_that_faults_in_a_check_is_a_fault(worker):
    what = problem()
    made = worker({"gemm": (TYPES, lambda *arguments: 716)})
    with pytest.raises(KernelFault, match="misaligned"):
        operations.verify(made.context, **verify_payload(what))


def test_a_product_that_cublas_refuses_is_skipped_with_its_reason(worker):
    made = worker({})
    made.lib.refuse = True
    with pytest.raises(SimulatorError, match="CUBLAS_STATUS_NOT_SUPPORTED"):
        buffer = made.gpu.upload(np.zeros(4, np.float32))
        cublas.Blas(made.gpu).gemm(2, 2, 1, buffer, buffer, buffer, dtype_in="f32", dtype_out="f32", dtype_acc="f32")()


def test_the_f16_baseline_accumulates_in_f16(worker):
    made = worker({})
    a, b = (made.gpu.upload(np.array(x, np.float16)) for x in ([[1, 2]], [[3], [4]]))
    d = made.gpu.upload(np.array([[10]], np.float16))
    cublas.Blas(made.gpu).gemm(
        1, 1, 2, a, b, d, dtype_in="f16", dtype_out="f16", dtype_acc="f16", alpha=2.0, beta=0.5
    )()
    assert made.lib.calls == [cublas.COMPUTE_16F] and d.read("f16", (1, 1)) == 27


@pytest.mark.parametrize("kind", ["integers", "normal"])
@pytest.mark.parametrize("layouts", ["row row", "row col", "col row", "col col"])
def test_a_right_kernel_passes_for_every_layout(worker, layouts, kind):
    what = problem(*layouts.split())
    made = worker({"gemm": (TYPES, gemm_of(what))})
    found = operations.verify(made.context, **verify_payload(what, kind=kind))
    result = judge(found, what, 32, kind, 96 * 64, (32, 32))
    assert result.passed, result.message
    assert set(made.lib.calls) == {cublas.COMPUTE_32F_PEDANTIC} and made.cuda.used == 0


def test_a_wrong_element_is_found_with_its_values_in_any_chunk_of_rows(worker, monkeypatch):
    monkeypatch.setattr("gpu_runner.timing.verify.ROWS_AT_ONCE", 32)
    what = problem()

    def spoil(out):
        out[70, 40] += 3

    made = worker({"gemm": (TYPES, gemm_of(what, spoil))})
    found = operations.verify(made.context, **verify_payload(what))
    assert (found["wrong"], found["first_bad"], found["bad_tiles"]) == (1, (70, 40), [(2, 1)])
    assert found["got"] == found["expected"] + 3
    assert "D[70, 40]" in judge(found, what, 32, "integers", 96 * 64, (32, 32)).message


def test_an_untouched_output_does_not_pass(worker):
    what = problem()
    made = worker({"gemm": (TYPES, lambda *arguments: None)})
    found = operations.verify(made.context, **verify_payload(what, kind="normal"))
    result = judge(found, what, 32, "normal", 96 * 64, (32, 32))
    assert not result.passed and found["nonfinite"] == 96 * 64 and "never written" in result.message


@pytest.mark.parametrize("regime", ["burst", "sustained"])
def test_entries_take_turns_and_a_wrong_kernel_is_not_timed(worker, monkeypatch, regime):
    monkeypatch.setattr(timing, "BURST_REST_S", 0.0)
    monkeypatch.setattr(timing, "SUSTAINED_WARMUP_S", 0.02)
    what = problem()
    right, wrong = gemm_of(what), gemm_of(what, lambda out: out.fill(0))
    right.milliseconds = 2.0
    ceiling = lambda scratch, n: None  # noqa: E731
    ceiling.milliseconds = 4.0
    made = worker({"gemm": (TYPES, right), "bad": (TYPES, wrong), "mma": ((POINTER, C_INT), ceiling)})
    kernel = {
        "kind": "kernel",
        "compiled": COMPILED,
        "grid": (3, 2, 1),
        "cluster": (1, 1, 1),
        "arguments": list(ARGUMENTS),
        "flops": 1e9,
        "block": (32, 32),
    }
    entries = [
        {**kernel, "label": "right"},
        {**kernel, "label": "wrong", "compiled": {**COMPILED, "entry": "bad"}},
        {"label": "cublas", "kind": "cublas", "flops": 1e9},
        {
            **kernel,
            "label": "ceiling",
            "kind": "ceiling",
            "compiled": {**COMPILED, "entry": "mma"},
            "arguments": [("buffer", 256), 1000],
        },
    ]
    answer = operations.benchmark(
        made.context,
        problem=wire_problem(what),
        m=96,
        n=64,
        k=32,
        entries=entries,
        regime=regime,
        rounds=5,
        limits=element_limits(what, 32, 2.0),
        error_bounds={e["label"]: bound(what, 32) for e in entries},
        alpha=2.0,
        beta=-1.0,
        seed=3,
    )
    reports = {report["label"]: report for report in answer["entries"]}
    assert [len(reports[label]["samples_ms"]) for label in ("right", "wrong", "cublas", "ceiling")] == [5, 0, 5, 5]
    assert reports["right"]["samples_ms"] == pytest.approx([2.0] * 5)
    assert reports["ceiling"]["samples_ms"] == pytest.approx([4.0] * 5)
    assert reports["cublas"]["samples_ms"] == pytest.approx([0.25] * 5)
    assert "not timed" in reports["wrong"]["skipped"] and "wrong" in reports["wrong"]["skipped"]
    assert answer["copies"] >= 2 and made.cuda.used == 0
    assert {"stage": "running", "done": 4, "total": 5} in made.context.reports


def test_the_large_check_of_measure_speaks_to_the_worker(worker, monkeypatch):
    what = problem()
    made = worker({"gemm": (TYPES, gemm_of(what))})
    monkeypatch.setattr(checking, "NUMPY_UP_TO", 16)
    monkeypatch.setattr(
        gpu_runner,
        "run_guarded",
        lambda kernel, op, *, timeout_s, args, flops, **fields: operations.OPERATIONS[op](made.context, **fields),
    )
    result = checking.check(SimpleNamespace(**COMPILED), what, grid=(3, 2, 1), m=96, n=64, k=32, block=(32, 32, 16))
    assert result.passed


@pytest.mark.parametrize("kind", ["cancelling", "integers", "normal"])
def test_the_small_check_of_measure_launches_on_the_worker(worker, monkeypatch, kind):
    what = problem()
    made = worker({"gemm": (TYPES, gemm_of(what))})
    monkeypatch.setattr(
        gpu_runner,
        "run_guarded",
        lambda kernel, op, *, timeout_s, **fields: operations.OPERATIONS[op](made.context, **fields),
    )
    compiled = SimpleNamespace(**COMPILED)
    assert checking.check(compiled, what, grid=(3, 2, 1), m=96, n=64, k=32, block=(32, 32, 16), kind=kind)
