"""What the lab itself asks of a GPU server passes the server's checks, for every way in which a kernel is used."""

import numpy as np
import pytest

import gemm_lab as lab
import gpu_runner as device
from gemm_lab import compiling
from gemm_lab.lab import on_simulator
from gemm_lab.lab.measuring import entry_of
from gemm_lab.measure import check
from gemm_lab.measure.benchmark import Entry, benchmark
from gemm_lab.measure.inputs import make_inputs
from gemm_lab_classroom.gateway.requests import checked
from gpu_runner.transport.codec import decoded, encoded
from gpu_runner.transport.server_results import understood
from gpu_simulator.hardware.tensor_map import TensorMap, arrays_of


class Asked(Exception):
    """Ends what asked."""


class Session:
    """Keeps what is asked of it, as the server's worker sees it."""

    queue = None

    def __init__(self):
        self.jobs = []

    def request(self, op, *, timeout_s=None, progress=None, patience_s=None, **payload):
        message = {
            "op": op,
            "payload": payload,
            "timeout_s": timeout_s,
            "patience_s": patience_s or 90.0,
            "fresh": False,
        }
        self.jobs.append(checked(decoded(bytearray(b"".join(encoded(message)))), "gpu"))
        raise Asked

    def close(self):
        pass


@pytest.mark.parametrize("name", [lab.ladder(ladder).kernels[-1].name for ladder in
                                  ("simt", "t4", "ampere", "rtx5090", "wmma", "hopper", "b200")])  # fmt: skip
def test_what_the_lab_asks_is_taken(name, monkeypatch):
    session, kernel = Session(), lab.kernel(name)
    monkeypatch.setattr(device, "session", lambda: session)
    compiled, n = kernel.compile_as_taught(), 512
    grid, problem, cluster = kernel.grid(n, n, n), kernel.problem, kernel.spec.cluster
    args = make_inputs(problem, n, n, n, "integers", 0).arguments()
    asks = [
        lambda: device.launch(compiled, grid=grid, args=args, cluster=cluster),
        lambda: check.check(compiled, problem, grid=grid, m=8192, n=8192, k=8192, block=kernel.block, cluster=cluster),
        lambda: benchmark(
            [entry_of(kernel, compiled), Entry("cublas", "cublas", ladder=kernel.spec.ladder)], [n], problem
        ),
    ]
    for ask in asks:
        with pytest.raises(Asked):
            ask()
    assert [job["op"] for job in session.jobs] == ["launch", "verify", "benchmark"]


TWICE = """extern "C" __global__ void __launch_bounds__(32) gemm(const int* same, const int* again, int* d) {
    d[threadIdx.x] = same[threadIdx.x] + again[threadIdx.x];
}"""


def test_an_array_that_is_given_twice_comes_back_at_the_same_places_from_a_server(monkeypatch):
    pytest.importorskip("tornado", reason="the extra classroom is not installed")
    from gemm_lab_classroom.gateway.worker import Simulator

    class Simulating:
        def request(self, op, **payload):
            message = {"op": op, "payload": payload, "timeout_s": None, "patience_s": 90.0, "fresh": False}
            job = checked(decoded(bytearray(b"".join(encoded(message)))), "simulator")
            result, _ = Simulator().answer(**job)
            return understood(op, decoded(bytearray(b"".join(encoded(result)))), payload)

    kernel, same = compiling.compile(TWICE, arch="sm_80", name="mine"), np.arange(32, dtype=np.int32)
    args = [same, same, np.zeros(32, np.int32)]
    here, _ = on_simulator.launch(kernel, (1, 1, 1), args)
    monkeypatch.setenv("GEMM_LAB_SERVER", "http://127.0.0.1:9")
    monkeypatch.setattr(device, "simulating_server", Simulating)
    there, _ = on_simulator.launch(kernel, (1, 1, 1), args)
    assert len(here) == len(there) == 3 and all(map(np.array_equal, here, there))
    assert np.array_equal(there[2], 2 * same)


def test_arrays_are_listed_wherever_they_stand_and_those_of_maps_once():
    a, b = np.zeros(64, np.float32), np.zeros(64, np.float32)
    of_a, of_b = TensorMap.of(a, (16,)), TensorMap.of(b, (16,))
    for args, places in (([a, a], [0, 0]), ([of_a, of_b, 3, of_b], [0, 1]), ([of_a, b, a, a], [1, 0, 0])):
        assert [int(found is b) for found in arrays_of(args)] == places
        copies, arrays = on_simulator.copied(args)
        given = [getattr(value, "array", value) for value in copies if not isinstance(value, int)]
        assert all(any(array is other for other in given) for array in arrays) and len(arrays) == len(places)
