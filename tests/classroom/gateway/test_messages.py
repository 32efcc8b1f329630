"""Messages that lie: to the server's codec, and from a server to a student. Nothing runs, and each ends in a sentence."""

import contextlib
import json
import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_simulator
from gemm_lab.lab.known_types import REPORT
from gemm_lab.lab.on_simulator import limits
from gemm_lab_classroom.gateway.requests import OPERATIONS, checked
from gemm_lab_classroom.judge.special_launches import Circumstances
from gpu_runner.faults import KernelFault, WorkerLost
from gpu_runner.remote import RemoteSession
from gpu_runner.settings import version
from gpu_runner.transport import codec, told_errors, wire
from gpu_runner.transport.codec import BadMessage, decoded, encoded
from gpu_runner.transport.server_link import ServerError
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.number_types import dtype_of
from gpu_simulator.hardware.tensor_map import TensorMap

FUZZ = settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry gemm(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; ret; }
"""


def message(value, arrays=(), blobs=b""):
    """A message by hand, with any JSON in it."""
    text = json.dumps({"value": value, "arrays": list(arrays)}).encode()
    start = len(text).to_bytes(8, "little") + text
    return bytearray(start + bytes(-len(start) % codec.ALIGN) + blobs)


def report():
    return gpu_simulator.launch(PTX, "gemm", 1, 32, [np.zeros(4, np.float32)], observers=("hazards",))


class Trap:
    """What runs when it is unpickled."""

    sprung = False

    def __reduce__(self):
        return exec, ("import test_gateway_messages as t; t.Trap.sprung = True",)


# ---- The codec ----


def test_a_report_travels_whole():
    made = report()
    assert set(vars(made)) == set(REPORT) | {"_launch"}, "annotate new attributes in the class Report"
    found = decoded(bytearray(b"".join(encoded(made))))
    assert type(found) is type(made) and all(getattr(found, name) == getattr(made, name) for name in REPORT)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.sampled_from([np.int64(7), np.float32(0.5), np.bool_(True)]),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(0, 9), inner),
    max_leaves=20,
)


@FUZZ
@given(VALUES, st.sampled_from(sorted(codec.DTYPES)), st.lists(st.integers(0, 4), max_size=3))
def test_what_is_sent_arrives(value, name, shape):
    array = np.ones(shape, dtype_of(name))
    try:
        data = bytearray(b"".join(encoded({"value": value, "array": array, "again": [array]})))
    except BadMessage:  # half a character of UTF-16 is no text
        assert "\\ud" in repr(value)
        return
    found = decoded(data)
    assert repr(found["value"]) == repr(value) and found["array"] is found["again"][0]
    assert found["array"].dtype == array.dtype and found["array"].tobytes() == array.tobytes()


@FUZZ
@given(st.binary(max_size=300), st.data())
def test_damaged_bytes_are_data_or_a_sentence(noise, data):
    whole = bytearray(b"".join(encoded({"args": [np.arange(6.0), b"xyz", (1, 2)], "report": REPORT_MADE})))
    start = data.draw(st.integers(0, len(whole)))
    whole[start : start + len(noise)] = noise
    cut = data.draw(st.integers(0, len(whole)))
    for attempt in (whole, whole[:cut], bytearray(noise)):
        with contextlib.suppress(BadMessage):
            decoded(attempt)


REPORT_MADE = report()

LIES = {
    "a pickle": bytearray(pickle.dumps(Trap())),
    "a pickle in a message": message({"bytes": 0}, [["bytes", [len(pickle.dumps(Trap()))]]], pickle.dumps(Trap())),
    "an unknown type": message({"object": ["Trap", {}]}),
    "a type by its path": message({"object": ["os.system", {"command": "true"}]}),
    "objects as elements": message({"array": 0}, [["object", [1]]], bytes(8)),
    "a structured dtype": message({"array": 0}, [["i4,O", [1]]], bytes(16)),
    "strings as elements": message({"array": 0}, [["U9", [1]]], bytes(36)),
    "a shape too large": message({"array": 0}, [["f32", [1 << 40]]], bytes(64)),
    "a shape whose product overflows": message({"array": 0}, [["f32", [1 << 33, 1 << 33]]], bytes(64)),
    "an empty shape that numpy cannot have": message({"array": 0}, [["f32", [0, 1 << 70]]]),
    "a negative shape": message({"array": 0}, [["f32", [-1, -4]]], bytes(64)),
    "a shape that is text": message({"array": 0}, [["f32", ["4"]]], bytes(64)),
    "bytes left over": message(1, [], bytes(64)),
    "a place that is not there": message({"array": 3}),
    "a negative place": message({"array": -1}, [["f32", [1]]], bytes(64)),
    "bytes for an array": message({"array": 0}, [["bytes", [4]]], bytes(64)),
    "truth that is neither": message({"array": 0}, [["bool", [1]]], b"\x02" + bytes(63)),
    "two keys": message({"tuple": [], "dict": []}),
    "a plain object": message({"a": 1}),
    "an unhashable key": message({"dict": [[[1], 2]]}),
    "a report without fields": message({"object": ["Report", {}]}),
    "a report with more": message({"object": ["Report", dict.fromkeys([*REPORT, "_launch"])]}),
    "a report of text": message({"object": ["Report", dict.fromkeys(REPORT, "x")]}),
    "a map of nonsense": message(
        {
            "object": [
                "TensorMap",
                {
                    "element": "f32",
                    "sizes": {"tuple": [4]},
                    "strides": {"tuple": []},
                    "box": {"tuple": [4096]},
                    "element_strides": {"tuple": [1]},
                    "swizzle": 7,
                    "l2_promotion": 0,
                    "fill": "zero",
                    "array": None,
                },
            ]
        }
    ),
    "a number of a thousand digits": bytearray(message(0).replace(b'"value": 0', b'"value": ' + b"9" * 1000)),
    "a deep nest": bytearray((200_002).to_bytes(8, "little") + b"[" * 100_001 + b"]" * 100_001),
    "a nest of ours": message(eval("[" * 60 + "]" * 60)),
    "half a character": message({"float": "nan"}, []).replace(b'"nan"', b'"\\ud8"'),
    "an array of numbers as JSON": message({"scalar": ["f32", [1, 2]]}),
    "nothing": bytearray(),
    "a length of everything": bytearray(b"\xff" * 64),
    "not JSON": bytearray((4).to_bytes(8, "little") + b"{{{{" + bytes(52)),
    "not UTF-8": bytearray((4).to_bytes(8, "little") + b"\xff\xfe\xff\xfe" + bytes(52)),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_refused_with_a_sentence(lie):
    data = LIES[lie]
    if lie == "a pickle in a message":  # bytes may be sent; nobody unpickles them
        assert decoded(data + bytes(-len(data) % codec.ALIGN)) == pickle.dumps(Trap())
    elif lie == "half a character":
        size = int.from_bytes(data[:8], "little")
        with pytest.raises(BadMessage):
            decoded(bytearray((size + 1).to_bytes(8, "little") + data[8:]))
    else:
        with pytest.raises(BadMessage):
            decoded(data)
    assert not Trap.sprung


@pytest.mark.parametrize(
    "value", [Trap(), print, Trap, {1, 2}, np.array([Trap()]), np.array(["x"]), open, 1j, "\ud800"]
)
def test_what_is_no_data_is_not_sent(value):
    with pytest.raises(BadMessage):
        encoded({"args": [value]})


@pytest.mark.parametrize("facts", [
    {"type": "Popen", "message": "m", "fields": {}},
    {"type": "SystemExit", "message": "m", "fields": {}, "module": "builtins"},
    {"type": "KernelFault", "message": "m", "fields": {"__class__": "x"}},
    {"type": "KernelFault", "message": "m", "fields": {"kind": ["x"]}},
    {"type": ["KernelFault"], "message": "m", "fields": {}},
    {"type": "WorkerLost", "message": "m", "fields": {"output": 5}},
    {"type": "WorkerLost", "message": "m", "fields": {"output": "", "args": []}},
    "text", None, [], {},
])  # fmt: skip
def test_an_error_that_lies_is_none(facts):
    with contextlib.suppress(ValueError):
        assert told_errors.retold(facts) is None


def test_errors_of_the_lab_keep_their_fields():
    error = KernelFault("K", "It failed.", "a.cu", 3, "text", "out")
    found = told_errors.retold(decoded(bytearray(b"".join(encoded(told_errors.told(error))))))
    assert type(found) is KernelFault and vars(found) == vars(error) and str(found) == str(error)
    for name in gpu_simulator.faults.__all__:
        kind = getattr(gpu_simulator.faults, name)
        assert type(told_errors.retold(told_errors.told(kind("A sentence.")))) is kind
    assert told_errors.retold(told_errors.told(OSError("x"))) is None


# ---- What a worker is asked ----

ASKED = {"op": "simulate", "payload": {}, "timeout_s": None, "patience_s": 1.0, "fresh": False}
KERNEL = {"name": "x", "ptx": PTX, "entry": "gemm", "threads": 32, "dynamic_smem": 0, "files": {}}
SIMULATE = {"compiled": KERNEL, "grid": (1, 1, 1), "args": [np.zeros(4, np.float32)]}
CUBIN = {
    "key": "theirs",
    "name": "x",
    "arch": "sm_90a",
    "entry": "gemm",
    "cubin": b"mine",
    "threads": 32,
    "dynamic_smem": 0,
}


@pytest.mark.parametrize(("changes", "backend"), [
    ({"op": "run"}, "gpu"), ({"op": "exec"}, "simulator"), ({"op": "__class__"}, "gpu"), ({"op": ["simulate"]}, "simulator"),
    ({"op": "launch"}, "simulator"), ({"op": "simulate"}, "gpu"), ({"extra": 1}, "simulator"), ({"fresh": "yes"}, "simulator"),
    ({"payload": {**SIMULATE, "observer": print}}, "simulator"), ({"payload": {**SIMULATE, "max_bytes": 1 << 60}}, "simulator"),
    ({"payload": {**SIMULATE, "args": [{"a": 1}]}}, "simulator"), ({"payload": {**SIMULATE, "args": ["text"]}}, "simulator"),
    ({"payload": {**SIMULATE, "timing": "never"}}, "simulator"), ({"payload": {**SIMULATE, "compiled": PTX}}, "simulator"),
    ({"payload": {**SIMULATE, "compiled": {**KERNEL, "threads": "32"}}}, "simulator"),
    ({"op": "launch", "payload": {**SIMULATE, "compiled": {**CUBIN, "cubin": "text"}}}, "gpu"),
])  # fmt: skip
def test_a_request_of_another_form_reaches_no_backend(changes, backend):
    with pytest.raises(SimulatorError):
        checked({**ASKED, "payload": SIMULATE, **changes}, backend)


def test_a_server_takes_what_the_judge_asks_of_a_launch():
    asked = {
        **Circumstances(
            timing="staggered",
            placement=gpu_simulator.Placement(1, True, 1024, 96),
            hazards=True,
        ).options(),
        **limits(64, 64, 64),
    }
    asked["placement"] = vars(asked["placement"])
    job = checked({**ASKED, "payload": {**SIMULATE, **asked}}, "simulator")
    assert {name: job["payload"][name] for name in asked} == asked


def test_limits_of_a_request_are_the_servers():
    job = checked(
        {**ASKED, "payload": {**SIMULATE, "max_seconds": 1e9}, "timeout_s": 1e9, "patience_s": -1.0}, "simulator"
    )
    assert job["payload"]["max_seconds"] <= 120 and job["timeout_s"] <= 120 and 0 < job["patience_s"] <= 180


def test_nobody_can_put_a_kernel_in_the_place_of_anothers():
    """The GPU's process keeps kernels by their key; the server makes it of the code, and takes nobody's word for it."""
    launch = {**ASKED, "op": "launch", "payload": {"compiled": CUBIN, "grid": (1, 1, 1), "args": []}}
    mine = checked(launch, "gpu")["payload"]["compiled"]["key"]
    other = {**CUBIN, "cubin": b"theirs"}
    theirs = checked({**launch, "payload": {**launch["payload"], "compiled": other}}, "gpu")["payload"]["compiled"][
        "key"
    ]
    assert mine != theirs and "theirs" not in (mine, theirs)
    assert set(OPERATIONS) == {"gpu", "simulator"}


# ---- A server that lies to its students ----


class Liar:
    """An HTTP server that gives the same answer to every question about a job."""

    def __init__(self, status, kind, body, facts=None, headers=()):
        facts = facts or {
            "version": version(),
            "protocol": wire.PROTOCOL,
            "you": "x",
            "workers": [{"backend": "simulator"}],
        }

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                asked = self.path.startswith("/v1/server")
                self.send_response(200 if asked else status)
                data = json.dumps(facts).encode() if asked else body
                self.send_header("Content-Type", "application/json" if asked else kind)
                self.send_header("Content-Length", str(len(data)))
                for name, value in () if asked else headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = answer
            log_message = lambda *words: None  # noqa: E731

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


DATA, TEXT = "application/x-gemm-lab", "application/json"


def answer(result):
    return bytes(b"".join(encoded({"result": result, "output": ""})))


ZERO = np.zeros(4, np.float32)
ANSWERS = {
    "a pickle": (200, DATA, pickle.dumps(Trap())),
    "a pickle of another kind": (200, "application/python-pickle", pickle.dumps(Trap())),
    "a page": (200, "text/html", b"<script>alert(1)</script>"),
    "a redirect": (302, TEXT, b"{}"),
    "a list": (200, TEXT, b"[]"),
    "deep JSON": (200, TEXT, b"[" * 100_000),
    "a state of nonsense": (200, TEXT, b'{"state": "run this"}'),
    "a place of nonsense": (200, TEXT, b'{"state": "waiting", "before": "x", "holder": 5}'),
    "no result": (200, DATA, bytes(b"".join(encoded({"output": ""})))),
    "a number": (200, DATA, answer(5)),
    "arrays of another shape": (200, DATA, answer({"arrays": [np.zeros(5, np.float32)], "report": REPORT_MADE})),
    "too many arrays": (200, DATA, answer({"arrays": [ZERO, ZERO], "report": REPORT_MADE})),
    "a report of text": (200, DATA, answer({"arrays": [ZERO], "report": "<b>"})),
    "an error of nonsense": (200, DATA, bytes(b"".join(encoded({"error": {"type": 5}, "output": ""})))),
    "an unknown error": (
        200,
        DATA,
        bytes(b"".join(encoded({"error": {"type": "SystemExit", "message": "m", "fields": {}}, "output": ""}))),
    ),
    "a refusal that paints the terminal": (400, TEXT, json.dumps({"error": "\x1b[2J\x07" + "long " * 9999}).encode()),
    "a mistake": (500, TEXT, b"Traceback"),
    "lost, with colours": (200, TEXT, json.dumps({"state": "lost", "why": "\x1b[31mended\n\n"}).encode()),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("lie", ANSWERS)
def test_a_server_that_lies_is_one_sentence(lie):
    with Liar(*ANSWERS[lie]) as server:
        one = RemoteSession(server.address, show=lambda text: None, token="t")
        with pytest.raises((ServerError, WorkerLost)) as caught:
            one.request("simulate", compiled=KERNEL, grid=(1, 1, 1), args=[ZERO.copy()])
        one.close()
    said = str(caught.value)
    assert said.isprintable() and 20 < len(said) < 1500 and not Trap.sprung


def test_a_token_is_not_carried_to_another_address():
    seen = []

    class Thief(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers.get("Authorization"))

    with ThreadingHTTPServer(("127.0.0.1", 0), Thief) as thief:
        threading.Thread(target=thief.serve_forever, daemon=True).start()
        there = f"http://127.0.0.1:{thief.server_port}/"
        with Liar(302, TEXT, b"", headers=[("Location", there)]) as server:
            one = RemoteSession(server.address, show=lambda text: None, token="secret")
            with pytest.raises(ServerError):
                one.request("simulate", compiled=KERNEL, grid=(1, 1, 1), args=[ZERO.copy()])
        thief.shutdown()
    assert seen == []


def test_a_tensor_map_and_its_array_stay_one():
    array = np.zeros((8, 32), np.float16)
    found = decoded(bytearray(b"".join(encoded([array, TensorMap.of(array, (16, 8))]))))
    assert found[1].array is found[0] and found[1] == TensorMap.of(array, (16, 8)) and found[0].flags.writeable
