"""Students who attack a server, or each other through it: with a token, without one, and with more than their share."""

import contextlib
import http.client
import json
import os
import pickle
import socket
import stat
import tempfile
import uuid
from pathlib import Path

import httpx
import numpy as np
import psutil
import pytest

pytest.importorskip("tornado", reason="the extra classroom is not installed")

from serving import Server, command, compiled, job

from gemm_lab_classroom.gateway.roster import Roster
from gpu_runner.remote import RemoteSession
from gpu_runner.transport import wire
from gpu_runner.transport.codec import encoded
from gpu_runner.transport.server_link import ServerError
from gpu_simulator.errors import ConfigError, SimulatorError

GEMM = 'extern "C" __global__ void __launch_bounds__(64) gemm(float* a, float* b, float* d, int n) {'
ENDLESS = GEMM + " while (((volatile float*)a)[0] < 100) ; d[0] = 1; }"
SLOW = {"max_seconds": 4.0}


@pytest.fixture(scope="module")
def server():
    one = Server(workers=2, people=8)
    yield one
    one.stop()


class Person:
    """A student who writes HTTP by hand."""

    def __init__(self, server, person=0, token=None):
        token = server.tokens[f"student{person}"] if token is None else token
        self.http = httpx.Client(
            base_url=server.address,
            trust_env=False,
            timeout=30,
            headers={"Authorization": f"Bearer {token}"} if token else {},
        )

    def post(self, body=b"", ticket=None, **query):
        ticket = uuid.uuid4().hex if ticket is None else ticket
        query = {
            "op": "simulate",
            "backend": "simulator",
            "arch": "",
            "what": "running x",
            "protocol": str(wire.PROTOCOL),
        } | query
        return self.http.post(f"/v1/jobs/{ticket}", params=query, content=body), ticket

    def wait(self, ticket):
        for _ in range(40):
            found = self.http.get(f"/v1/jobs/{ticket}", params={"wait": "5"})
            if found.status_code != 200 or found.headers["content-type"] != "application/json; charset=UTF-8":
                return found
            if found.json()["state"] == "lost":
                return found
        raise AssertionError("no answer")


def request(kernel, **options):
    arrays = [np.zeros((64, 64), np.float32) for _ in range(3)]
    payload = {"compiled": kernel, "grid": (1, 1, 1), "args": [*arrays, 64], **options}
    asked = {"op": "simulate", "timeout_s": None, "patience_s": 5.0, "fresh": False, "payload": payload}
    return b"".join(encoded(asked))


# ---- No code travels ----


class Mark:
    """Unpickled, it leaves a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_pickles_are_not_opened(server, tmp_path):
    """Of every protocol, as a body and inside a message."""
    mark, me = tmp_path / "executed", Person(server)
    bodies = [pickle.dumps(Mark(mark), protocol) for protocol in range(6)]
    with contextlib.suppress(ImportError):
        import cloudpickle

        bodies.append(cloudpickle.dumps(lambda: mark.touch()))
    bodies += [(len(body)).to_bytes(8, "little") + body for body in bodies]
    bodies.append(
        b"".join(
            encoded({"op": "simulate", "payload": bodies[0], "timeout_s": None, "patience_s": 1.0, "fresh": False})
        )
    )
    bodies.append(b"".join(encoded(bodies[0])))
    for kind in ("application/x-python-pickle", "application/x-gemm-lab", "multipart/form-data; boundary=x"):
        me.http.headers["Content-Type"] = kind
        for body in bodies[:: 3 if kind[0] == "m" else 1]:
            posted, ticket = me.post(body)
            if posted.status_code == 202:
                found = me.wait(ticket)
                assert found.status_code == 200 and (b"message" in found.content or b"request" in found.content)
                me.http.delete(f"/v1/jobs/{ticket}")
    assert not mark.exists()
    assert job(server.session(1), compiled())


def test_only_what_was_asked_listens(server):
    """The whole process tree has one listening socket, on loopback; the jobs' files are in a folder of its user."""
    listening = [
        (process.name(), found.laddr)
        for process in server.family()
        for found in process.net_connections("inet")
        if found.status == psutil.CONN_LISTEN or (found.type == socket.SOCK_DGRAM and found.laddr)
    ]
    assert [address for _, address in listening] == [("127.0.0.1", server.port)]
    folders = [folder for folder in Path(tempfile.gettempdir()).glob("gemm-lab-*") if (folder / "jobs").is_dir()]
    assert folders and all(stat.S_IMODE(folder.stat().st_mode) == 0o700 for folder in folders)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/metrics",
        "/health",
        "/info/main/workers.html",
        "/status",
        "/sysmon",
        "/json/counts.json",
        "/v1/status",
        "/v1/server",
        "/v1/jobs/" + "0" * 32,
        "/api/v1/retire_workers",
        "/%2e%2e/etc/passwd",
    ],
)
def test_strangers_are_told_nothing(server, path):
    found = Person(server, token="").http.get(path)
    assert found.status_code == 401 and set(found.json()) == {"error"} and "Server" not in found.headers
    known = Person(server).http.get(path)
    assert known.status_code == (200 if path.startswith("/v1/s") else 404)


# ---- Who somebody is ----


@pytest.mark.parametrize("token", ["", "x", "student0", "é", "a" * 10_000, "\x00", "Bearer", "null", "'; --"])
def test_a_wrong_token_is_refused(server, token):
    raw = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    raw.putrequest("GET", "/v1/server")
    raw.putheader("Authorization", f"Bearer {token}".encode())
    raw.endheaders()
    assert raw.getresponse().status in (400, 401)  # 400 for what is no header of HTTP
    raw.close()


def test_a_missing_token_is_one_sentence_at_the_students(server):
    for token, words in (("", "set GEMM_LAB_TOKEN to the token"), ("wrong", "does not know this token")):
        with pytest.raises(ServerError, match=words):
            RemoteSession(server.address, token=token).facts()


def test_tokens_live_as_long_as_their_names(tmp_path):
    """They survive a restart, are kept as hashes in a file of the owner's, and end when the name leaves the roster."""
    path = tmp_path / "class.csv"
    path.write_text("name,mail\nAda,a@x\n  Grace \u200b ,g@x\n\nZoë,z@x\n", encoding="utf-8")
    first = Roster.read(path)
    assert first.names == list(first.new) == ["Ada", "Grace", "Zoë"] and len(set(first.new.values())) == 3
    kept = tmp_path / "class.csv.tokens"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert not any(token in kept.read_text() for token in first.new.values())
    again = Roster.read(path)
    assert again.new == {} and [again.name_of(token) for token in first.new.values()] == first.names
    path.write_text("Grace\nNew\n")
    smaller = Roster.read(path)
    assert (
        list(smaller.new) == ["New"]
        and smaller.name_of(first.new["Ada"]) is None
        and smaller.name_of(first.new["Grace"]) == "Grace"
    )
    path.write_text("Ada\nGrace\n")
    assert Roster.read(path).name_of(first.new["Ada"]) is None, "an expired token does not come back"


@pytest.mark.parametrize("text", ["", "name\n", "Ada\nAda\n", "\x00\n\x00\n", b"\xff\xfe\x00"])
def test_a_roster_that_is_none_is_a_sentence(tmp_path, text):
    path = tmp_path / "class.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError):
        Roster.read(path)
    path.write_text("Ada\n")
    (tmp_path / "class.csv.tokens").write_text("[1]")
    with pytest.raises(ConfigError):
        Roster.read(path)


def test_a_ticket_of_somebody_else_is_not_there(server):
    owner, thief = Person(server, 0), Person(server, 1)
    _, ticket = owner.post(request(compiled()))
    for method in ("GET", "DELETE"):
        assert thief.http.request(method, f"/v1/jobs/{ticket}").status_code == 404
    taken, _ = thief.post(request(compiled()), ticket)
    assert taken.status_code == 409
    assert owner.wait(ticket).headers["content-type"] == "application/x-gemm-lab"


@pytest.mark.parametrize("ticket", ["x", "..", "%2e%2e%2fetc", "A" * 32, "0" * 31, "0" * 33, "0" * 31 + "g"])
def test_a_ticket_of_another_form_is_refused(server, ticket):
    assert Person(server).post(b"x", ticket)[0].status_code in (400, 404)


@pytest.mark.parametrize(
    "changes", [{"op": "run"}, {"op": ""}, {"backend": "os"}, {"protocol": "1"}, {"protocol": ""}, {"protocol": "2x"}]
)
def test_an_operation_that_is_none_is_refused_before_its_body(server, changes):
    assert Person(server).post(b"x" * 100, **changes)[0].status_code in (400, 409)


# ---- More than one's share ----


def memory(server):
    return max(process.memory_info().rss for process in server.family()[:1])


def test_a_gigabyte_is_refused_before_it_is_read(server):
    before, sent = memory(server), 0
    with socket.create_connection(("127.0.0.1", server.port)) as line:
        query = f"op=simulate&backend=simulator&arch=&protocol={wire.PROTOCOL}"
        line.sendall(
            f"POST /v1/jobs/{uuid.uuid4().hex}?{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.tokens['student0']}\r\n"
            f"Content-Length: {1 << 30}\r\n\r\n".encode()
        )
        reply = line.recv(65536)
        assert reply.startswith(b"HTTP/1.1 413") and b"may be sent" in reply
        with contextlib.suppress(OSError):
            while sent < 1 << 30:
                sent += line.send(bytes(1 << 20))
    assert sent < 1 << 30 or memory(server) - before < 64 << 20
    assert memory(server) - before < 64 << 20
    assert job(server.session(), compiled())


def test_strangers_cannot_send_anything(server):
    with socket.create_connection(("127.0.0.1", server.port)) as line:
        line.sendall(b"POST /v1/jobs/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert line.recv(65536).startswith(b"HTTP/1.1 401")


def test_too_many_questions_are_refused_and_others_do_not_notice(server):
    me = Person(server, 3)
    codes = [me.http.get("/v1/status").status_code for _ in range(600)]
    assert codes[:100] == [200] * 100 and set(codes) <= {200, 429}
    assert job(server.session(4), compiled())


# ---- What is shown of others ----


def _quiet(session, kernel):
    with contextlib.suppress(SimulatorError):
        session.request("simulate", compiled=kernel, grid=(1, 1, 1), args=[np.zeros(4, np.float32)] * 3 + [64], **SLOW)


@pytest.mark.long
def test_a_server_without_a_roster_is_for_its_own_user():
    """On loopback a token is made and shown; who does not have it is a stranger there, too."""
    one = Server(1, command=command("serve", "--port", "0", "--backend", "simulator"))
    try:
        (token,) = one.tokens.values()
        assert RemoteSession(one.address, token=token).facts()["backend"] == "simulator"
        with pytest.raises(ServerError, match="set GEMM_LAB_TOKEN"):
            RemoteSession(one.address, token="").facts()
    finally:
        one.stop()


def test_a_job_of_a_student_sees_nothing_of_the_server(server):
    """Errors say what went wrong without paths and tracebacks of the server's."""
    with pytest.raises(SimulatorError) as caught:
        server.session().request("simulate", compiled=compiled() | {"entry": "nothing"}, grid=(1, 1, 1), args=[])
    assert "Traceback" not in str(caught.value) and os.sep + "gemm_lab" + os.sep not in str(caught.value)
    assert json.dumps(getattr(caught.value, "output", "")) == '""'
