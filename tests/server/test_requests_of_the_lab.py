"""What the lab itself asks of a GPU server passes the server's checks, for every way in which a kernel is used."""

import pytest

import gemm_lab as lab
from gemm_lab import device
from gemm_lab.api.measuring import entry_of
from gemm_lab.device.codec import decoded, encoded
from gemm_lab.device.postmortem import examine
from gemm_lab.measure import check
from gemm_lab.measure.benchmark import Entry, benchmark
from gemm_lab.measure.inputs import make_inputs
from gemm_lab.server.requests import checked


class Asked(Exception):
    """Ends what asked."""


class Session:
    """Keeps what is asked of it, as the server's worker sees it."""

    queue = None

    def __init__(self):
        self.jobs = []

    def request(self, op, *, timeout_s=None, progress=None, patience_s=None, **payload):
        message = {"op": op, "payload": payload, "timeout_s": timeout_s, "patience_s": patience_s or 90.0, "fresh": False}
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
        lambda: benchmark([entry_of(kernel, compiled), Entry("cublas", "cublas", ladder=kernel.spec.ladder)], [n], problem),
        lambda: examine(compiled, grid=grid, args=args, cluster=cluster, hang=False, session=session),
    ]
    for ask in asks:
        with pytest.raises(Asked):
            ask()
    assert [job["op"] for job in session.jobs] == ["launch", "verify", "benchmark", "autopsy"]
