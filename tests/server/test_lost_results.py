"""A worker that ends between finishing a job and handing its result over: the client is told, and does not wait on."""

import pytest

from gemm_lab.device.faults import WorkerLost
from gemm_lab.device.remote import RemoteSession


class Future:
    """Of a job that never comes to an answer; `ready`: its result is there and only takes long to fetch."""

    def __init__(self, ready: bool):
        self.ready, self.asked = ready, 0

    def result(self, timeout):
        self.asked += 1
        if self.asked > 20:
            raise RuntimeError("the client waited on")
        raise TimeoutError

    def done(self):
        return self.ready

    def release(self):
        pass


def session(states, ready=False):
    """A session whose server answers with these states, one a question, the last for ever."""
    made, future, left = RemoteSession("tcp://nowhere:1", show=lambda text: None), Future(ready), list(states)
    made._connected = lambda: type("Client", (), {"submit": lambda self, *args, **options: future})()
    made._call = lambda handler, **facts: {"state": left.pop(0) if len(left) > 1 else left[0]}
    made._forget = lambda: None
    return made, future


@pytest.mark.parametrize("states", [["lost"], ["turn", "turn", "unknown"], ["unknown", "lost", "unknown"]])
def test_a_job_that_nobody_knows_any_more_is_lost(states):
    made, future = session(states)
    with pytest.raises(WorkerLost, match="ended during “emulate”, which was not repeated"):
        made._answer("ticket", "tcp://worker:1", [b""], 600.0, "emulate")
    assert future.asked <= len(states) + 2


def test_one_that_runs_is_waited_for_until_its_time_is_up():
    made, future = session(["turn"])
    with pytest.raises(WorkerLost, match="did not answer “emulate” within 0 s"):
        made._answer("ticket", "tcp://worker:1", [b""], 0.0, "emulate")
    assert future.asked >= 1


def test_a_result_that_takes_long_to_fetch_is_not_given_up():
    made, future = session(["unknown"], ready=True)
    with pytest.raises(Exception, match="RuntimeError: the client waited on"):
        made._answer("ticket", "tcp://worker:1", [b""], 600.0, "emulate")
    assert future.asked > 20
