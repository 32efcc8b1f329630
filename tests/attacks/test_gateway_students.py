"""Students who attack a server, or each other through it: with a token, without one, and with more than their share."""

import contextlib
import http.client
import json
import os
import pickle
import socket
import stat
import threading
import time
import uuid
from pathlib import Path

import httpx
import numpy as np
import psutil
import pytest

pytest.importorskip("distributed", reason="the extra classroom is not installed")

from serving import Server, command, compiled, job, status, wait_for

from gemm_lab_classroom.gateway import fair_queue
from gemm_lab_classroom.gateway.roster import Roster
from gpu_runner.faults import WorkerLost
from gpu_runner.remote import RemoteSession
from gpu_runner.transport import wire
from gpu_runner.transport.codec import encoded
from gpu_runner.transport.server_link import ServerError
from gpu_simulator.errors import ConfigError, LabError

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
    """Of every protocol, as a body, inside a message, and as Dask would send them."""
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


@pytest.mark.long
def test_dasks_own_words_are_not_understood(server):
    """The port speaks HTTP alone: a Dask client that knocks there finds no scheduler, and nothing of it is executed."""
    import distributed

    with pytest.raises((OSError, TimeoutError, ValueError)):
        distributed.Client(server.address.replace("http://", "tcp://"), timeout=2, set_as_default=False)
    assert job(server.session(), compiled())


def test_only_what_was_asked_listens(server):
    """The whole process tree has one listening socket, on loopback; Dask's are files in a folder of the server's user."""
    listening = [
        (process.name(), found.laddr)
        for process in server.family()
        for found in process.net_connections("inet")
        if found.status == psutil.CONN_LISTEN or (found.type == socket.SOCK_DGRAM and found.laddr)
    ]
    assert [address for _, address in listening] == [("127.0.0.1", server.port)]
    folders = [
        Path(name)
        for process in server.family()
        for found in process.net_connections("unix")
        if (name := found.laddr) and name.startswith("/")
    ]
    own = {folder.parent for folder in folders if folder.parent.name.startswith("gemm-lab-")}
    assert len(own) == 1 and len(folders) >= 3
    assert stat.S_IMODE(own.pop().stat().st_mode) == 0o700


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


@pytest.mark.long
def test_nobody_is_another_by_saying_so(server, monkeypatch):
    """A name in the request, in the environment or in a header changes nothing: others read the roster's."""
    monkeypatch.setattr("gpu_runner.turns.me", lambda: "the teacher")
    endless, me = compiled(source=ENDLESS), Person(server, 2)
    me.http.headers.update({"X-Name": "the teacher", "From": "the teacher", "Cookie": "name=the teacher"})
    short = {"max_seconds": 1.5}
    posted, _ = me.post(
        request(endless, **short),
        what="\x1b[2Jthe teacher is \u202e" + "x" * 500,
        who="the teacher",
        client="the teacher",
        name="the teacher",
    )
    assert posted.status_code == 202
    me.post(request(endless, **short)), Person(server, 3).post(request(endless, **short))
    asker = Person(server, 4)
    _, ticket = asker.post(request(compiled()))
    state = asker.http.get(f"/v1/jobs/{ticket}", params={"wait": "0"}).json()
    if state["state"] == "waiting":
        assert state["holder"].count("student") == 2 and state["holder"].startswith("student2 is ")
        assert state["holder"].isprintable() and len(state["holder"]) < 400
    wait_for(lambda: not status(server.session())["jobs"].get("running"))


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


@pytest.mark.long
def test_invented_names_do_not_starve_the_others(server):
    """One token with 20 tickets: six are taken, and somebody who comes after them all waits for one of them at most."""
    liar, endless = Person(server, 5), compiled(source=ENDLESS)
    codes = [
        liar.post(request(endless, **SLOW), who=f"name{number}", client=f"name{number}")[0].status_code
        for number in range(20)
    ]
    assert codes.count(202) == fair_queue.MOST_WAITING and set(codes) == {202, 429}
    victim = server.session(6)
    before = status(victim)["served"].get("student5", 0)
    job(victim, compiled())
    assert status(victim)["served"]["student5"] - before <= 1
    wait_for(lambda: not status(victim)["jobs"].get("running") and not status(victim)["jobs"].get("waiting"), 90)


def test_turns_that_are_not_used_are_charged(server):
    """Who begins to send and stops holds no worker; who sends and goes away has had the turn."""
    slow = socket.create_connection(("127.0.0.1", server.port))
    query = f"op=simulate&backend=simulator&arch=&protocol={wire.PROTOCOL}"
    slow.sendall(
        f"POST /v1/jobs/{uuid.uuid4().hex}?{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.tokens['student7']}\r\n"
        "Content-Length: 1000\r\n\r\nhalf".encode()
    )
    honest = server.session(6)
    for _ in range(4):
        job(honest, compiled())  # both workers are free for it
    assert status(honest)["jobs"].get("arriving") == 1
    slow.close()
    wait_for(lambda: not status(honest)["jobs"].get("arriving"))
    goer, before = Person(server, 7), status(honest)["served"].get("student7", 0)
    for _ in range(3):
        _, ticket = goer.post(request(compiled()))
        goer.http.delete(f"/v1/jobs/{ticket}")
    wait_for(lambda: not status(honest)["jobs"].get("running"))
    assert 0 <= status(honest)["served"].get("student7", 0) - before <= 3


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


@pytest.mark.long
def test_a_gigabyte_in_pieces_is_stopped_at_the_limit(server):
    """Without a declared length. The bytes lie in a file until then, and are removed with it."""
    before, piece = memory(server), bytes(1 << 20)

    def pieces():
        for _ in range(1024):
            yield piece

    with contextlib.suppress(httpx.HTTPError):  # the server may close before all is sent
        found, _ = Person(server).post(pieces())
        assert found.status_code == 413
    assert memory(server) - before < 64 << 20
    wait_for(lambda: not status(server.session(1))["jobs"].get("arriving"))
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


RUBBISH = [b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01" + b"x" * 200, b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
           b"POST / HTTP/1.1\r\nContent-Length: 1" + b"0" * 5000 + b"\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10_000 + b"\r\n",
           b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nzzzz\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RUBBISH)))
def test_rubbish_ends_its_connection_alone(server, number):
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as line, contextlib.suppress(OSError):
        line.sendall(RUBBISH[number])
        line.shutdown(socket.SHUT_WR)
        while line.recv(65536):
            pass
    assert server.session().facts()["backend"] == "simulator"


@pytest.mark.long
def test_half_open_connections_do_not_exhaust_the_service(server):
    """600 sockets that connect and say nothing, or half a header, beside clients that work."""
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(600)]
    for line in idle[::2]:
        line.sendall(b"GET /v1/server HTTP/1.1\r\nHost: x\r\nAuthor")
    results = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(job(server.session(n), compiled()))) for n in range(8)
    ]
    [thread.start() for thread in threads], [thread.join(120) for thread in threads]
    assert len(results) == 8
    deadline = time.monotonic() + 60  # they are closed by the server
    for line in idle:
        line.settimeout(max(0.1, deadline - time.monotonic()))
        with contextlib.suppress(ConnectionError):
            assert line.recv(1) == b""
        line.close()


# ---- What is shown of others ----


@pytest.mark.long
def test_what_somebody_writes_cannot_paint_anothers_terminal(server):
    """The words about a running job, and an error's sentence, arrive as one printable line."""
    source = compiled(source=ENDLESS) | {"name": "\x1b[31m\r\n<b>mine</b>"}
    shown, threads = [], []
    for person in (1, 2):
        one = server.session(person)
        threads.append(threading.Thread(target=_quiet, args=(one, source)))
    [thread.start() for thread in threads]
    watcher = server.session(3, show=shown.append)
    wait_for(lambda: status(watcher)["jobs"].get("running") == 2)
    job(watcher, compiled())
    [thread.join(120) for thread in threads]
    assert any("student" in line for line in shown) and all(line.isprintable() for line in shown)


def _quiet(session, kernel):
    with contextlib.suppress(LabError):
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
    with pytest.raises((LabError, WorkerLost)) as caught:
        server.session().request("simulate", compiled=compiled() | {"entry": "nothing"}, grid=(1, 1, 1), args=[])
    assert "Traceback" not in str(caught.value) and os.sep + "gemm_lab" + os.sep not in str(caught.value)
    assert json.dumps(getattr(caught.value, "output", "")) == '""'
