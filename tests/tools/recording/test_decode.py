"""The recorder of small problems, as far as it goes without a GPU."""

from types import SimpleNamespace

from gpu_runner.baselines import cublaslt
from tools.recording import decode


class Rows(list):
    """Stands for a tensor: it has rows, and an address."""

    def data_ptr(self):
        return id(self)


def test_the_algorithms_of_cublaslt_are_asked_for_as_they_are_and_in_the_stream(monkeypatch):
    asked, calls, made = [], [], cublaslt.candidates

    def candidates(device, problem, operands, m, n, k, *others, kind="cublaslt_best", scales=(), stream=0):
        asked.append((device, [one.address for one in operands[1]], (m, n, k), others, kind, scales, stream))
        return {"first": [lambda: calls.append(0), lambda: calls.append(1)]}

    assert made.__kwdefaults__ == {"kind": "cublaslt_best", "scales": (), "stream": 0}
    monkeypatch.setattr(cublaslt, "candidates", candidates)
    a, b, d = ([Rows(range(16)), Rows(range(16))] for _ in range(3))
    found = decode._algorithms(SimpleNamespace(name="gpu"), 7, a, b, d)
    found["first"](a[1], b[1], d[1])
    ((_, addresses, shape, others, *rest),) = asked
    assert addresses == [one.data_ptr() for one in (a[1], b[1], d[1])] and calls == [1]
    assert shape == (16, decode.EDGE, decode.EDGE) and others == (1.0, 0.0, "bf16", [])
    assert rest == ["cublaslt_best", (), 7]
