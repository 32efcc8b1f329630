"""What a command found, for programs: JSON, annotations of GitHub, SARIF and JUnit, and the exit codes 0, 1 and 2."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from compiling import need_compiler
from ptx_text import at, text
from sarif_rules import faults

from gpu_simulator.cli.command_line import main
from gpu_simulator.cli.formats import ERROR, NOTE, WARNING, Finding, Outcome, as_github, as_json, as_junit, as_sarif

FILES = '.file 1 "mine.cu"\n'
ARRAYS = ("--arg", "null", "--arg", "null", "--arg")
# A store by all threads to one word, behind the line of a source that is or is not beside it.
RACE = text("st.global.u32 [%d], %t;").replace(".visible", FILES + ".visible", 1)
CASES = {  # file -> (text, arguments, exit code, kind)
    "clean.ptx": (text(at("%d", "%t", 4, "%q12") + "st.global.u32 [%q12], %t;"), "u32:64", 0, None),
    "race.ptx": (RACE.replace("st.global", ".loc 1 2 1\nst.global"), "u32:1", 1, "race"),
    "same.ptx": (text("st.global.u32 [%d], 5;"), "u32:1", 0, "race"),
    "fault.ptx": (text("add.u64 %d, %d, 400; st.global.u32 [%d], %t;"), "u32:1", 1, "memory fault"),
    "trap.ptx": (text("trap;"), "u32:1", 1, "trap"),
    "broken.ptx": (text("frobnicate.u32 %r1, %r2;"), "u32:1", 2, "not run"),
    "nothing.ptx": (None, "u32:1", 2, "not run"),
    "short.ptx": (text(""), "q32:1", 2, "not run"),
}
LEVELS = {"same.ptx": WARNING}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """run(name, format): the exit code and what is printed for one of the cases."""
    monkeypatch.chdir(tmp_path)

    def call(name: str, form: str, *more: str) -> tuple[int, str]:
        source, argument, _, _ = CASES[name]
        if source is not None:
            Path(name).write_text(source)
        code = main([name, "--block", "64", *ARRAYS, argument, "--hazards", "--format", form, *more])
        return code, capsys.readouterr().out

    return call


@pytest.mark.parametrize("name", CASES)
def test_the_exit_code_and_each_format_say_the_same(run, name):
    _, _, wanted, kind = CASES[name]
    level = LEVELS.get(name, ERROR)
    code, said = run(name, "json")
    found = json.loads(said)
    assert code == wanted == found["exit_code"] and [one["kind"] for one in found["findings"]] == [kind] * bool(kind)
    code, said = run(name, "sarif")
    log = json.loads(said)
    assert faults(log) == []
    (whole,) = log["runs"]
    (invocation,) = whole["invocations"]
    assert code == wanted == invocation["exitCode"] and invocation["executionSuccessful"] == (wanted < 2)
    entries = whole["results"] + invocation.get("toolExecutionNotifications", [])
    assert [one["level"] for one in entries] == [level] * bool(kind) and len(whole["results"]) == (
        kind not in (None, "not run")
    )
    code, said = run(name, "junit")
    suite = ElementTree.fromstring(said).find("testsuite")
    assert code == wanted and (suite.get("failures"), suite.get("errors")) == (str(int(code == 1)), str(int(code == 2)))
    problem = suite.find("testcase/failure" if wanted == 1 else "testcase/error")
    assert (problem is not None) == (wanted > 0) and (problem is None or problem.get("type") == kind)
    code, said = run(name, "github")
    commands = [line for line in said.split("\n") if line.startswith("::")]
    assert code == wanted and [line.split()[0] for line in commands] == [f"::{level}"] * bool(kind)
    code, said = run(name, "text")
    assert code == wanted and "::" not in said


@pytest.mark.parametrize("beside", [True, False])
def test_a_finding_in_ptx_lies_in_its_source_where_that_is_here(run, beside):
    if beside:
        Path("mine.cu").write_text("__global__ void kernel() {\n  store();\n}\n")
    (one,) = json.loads(run("race.ptx", "json")[1])["findings"]
    line = CASES["race.ptx"][0].split("\n").index(".loc 1 2 1") + 2
    assert (one["file"], one["line"]) == (("mine.cu", 2) if beside else ("race.ptx", line))
    assert one["ptx_line"] == line and one["block"] == [0, 0, 0] and one["thread"][1:] == [0, 0]
    counts = run("race.ptx", "text", "--counts")[1]
    assert ("    2    store();" in counts) == beside and ("st.global.u32 [%d]" in counts) != beside


def places(run, name):
    """The path of the one finding in each format, and the exit code."""
    (command,) = [line for line in run(name, "github")[1].split("\n") if line.startswith("::")]
    (log,) = json.loads(run(name, "sarif")[1])["runs"]
    (found,) = log["results"] + log["invocations"][0].get("toolExecutionNotifications", [])
    case = ElementTree.fromstring(run(name, "junit")[1]).find("testsuite/testcase")
    uri = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    (one,) = json.loads(run(name, "json")[1])["findings"]
    return command.split("file=")[1].partition(",")[0], uri, case.get("file"), one["file"]


@pytest.mark.parametrize("name", ["race.ptx", "nothing.ptx"])
@pytest.mark.parametrize("git", ["folder", "file", None])
def test_programs_get_paths_from_the_root_of_the_repository(run, tmp_path, monkeypatch, name, git):
    (tmp_path / "repository/kernels").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "repository", target_is_directory=True)
    monkeypatch.chdir(tmp_path / "link/kernels")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    assert places(run, name) == (name,) * 4, "a folder that is no repository changes nothing"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path if git else tmp_path / "repository"))
    if git == "folder":
        Path("../.git").mkdir()
    elif git == "file":  # of a worktree
        Path("../.git").write_text("gitdir: elsewhere\n")
    assert places(run, name) == (*(f"kernels/{name}",) * 3, name), "for programs of one's own it stays as it was typed"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "other"))
    assert places(run, name)[0] == (f"kernels/{name}" if git else name)


def outcome(message: str) -> Outcome:
    made = Outcome(Path("a b.cu"), kernel="k")
    made.findings = [Finding("race", ERROR, message, "x,y:z.cu", 3, thread=(1, 2, 3)), Finding("remark", NOTE, "!")]
    return made


def test_signs_that_end_a_command_or_a_document_are_escaped():
    odd = 'a\r\nb % ::c\x00<&">'
    first, second = as_github(outcome(odd), "1").split("\n")
    assert first == '::error file=x%2Cy%3Az.cu,line=3,title=race::a%0D%0Ab %25 ::c\x00<&">' and second.startswith(
        "::notice"
    )
    failure = ElementTree.fromstring(as_junit(outcome(odd), "1")).find("testsuite/testcase/failure")
    assert failure.get("message").endswith('b % ::c?<&">') and "x,y:z.cu:3: race: a" in failure.text
    log = json.loads(as_sarif(outcome(odd), "1"))
    assert faults(log) == []
    assert log["runs"][0]["results"][0]["properties"]["thread"] == [1, 2, 3]
    told = as_junit(outcome("x,y:z.cu:3, st.shared"), "1").partition("<failure")[2].partition(">")[2]
    assert told.startswith("race: x,y:z.cu:3, st"), "its line is not told twice"
    assert json.loads(as_json(outcome(odd), "1"))["findings"][0]["message"] == odd


@pytest.mark.parametrize(
    "spoil",
    [
        lambda log: log.pop("version"),
        lambda log: log["runs"][0].update(tools=1),
        lambda log: log["runs"][0]["tool"]["driver"].pop("name"),
        lambda log: log["runs"][0]["invocations"][0].pop("executionSuccessful"),
        lambda log: log["runs"][0]["results"][0].pop("message"),
        lambda log: log["runs"][0]["results"][0].update(level="bad"),
        lambda log: log["runs"][0]["results"][0].update(ruleId="missing-wait"),
        lambda log: log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda log: log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].update(
            uri="a b"
        ),
    ],
)
def test_a_log_that_breaks_a_rule_is_rejected(spoil):
    log = json.loads(as_sarif(outcome("m"), "1"))
    assert faults(log) == []
    spoil(log)
    assert len(faults(log)) == 1


def test_each_error_of_the_compiler_is_at_its_line(run, capsys):
    need_compiler()
    Path("bad.cu").write_text("__global__ void k(int* p) {\n  p[0] = q;\n  r();\n}\n")
    assert main(["bad.cu", "--arg", "i32:1", "--format", "json"]) == 2
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["kind"], one["file"], one["line"]) for one in found] == [
        ("not run", "bad.cu", 2),
        ("not run", "bad.cu", 3),
    ]


@pytest.mark.parametrize(
    ("text", "words", "name"),
    [
        ("__global__ void mine(int* p) { WHAT }", (), "mine"),
        ("template <typename T> __global__ void mine(T* p) { WHAT }", ("--kernel", "mine<int>"), "mine"),
        ("__global__ void mine(int* p) { WHAT }\n__global__ void other() {}", ("--kernel", "mine"), "mine"),
        ("__global__ void mine(int* p) { WHAT }\n__global__ void other() {}", (), "unclear"),
    ],
)
def test_a_launch_has_the_same_name_in_junit_whether_it_compiles_or_not(run, capsys, text, words, name):
    need_compiler()
    for code, body in ((2, "q();"), (0, "p[0] = 1;")):
        Path("unclear.cu").write_text(text.replace("WHAT", body))
        code = 2 if name == "unclear" else code
        assert main(["unclear.cu", "--block", "1", "--arg", "i32:1", "--format", "junit", *words]) == code
        case = ElementTree.fromstring(capsys.readouterr().out).find("testsuite/testcase")
        assert case.get("name") == name and (case.find("error") is not None) == (code == 2)


CONFLICT = """__global__ void kernel(float* o) {
  __shared__ float tile[32][32];
  for (int j = 0; j < 32; j++) tile[j][threadIdx.x] = j;
  __syncthreads();
  for (int j = 0; j < 32; j++) o[32 * j + threadIdx.x] = tile[threadIdx.x][j];
}
"""


def test_layouts_that_would_cost_less_are_shown(run, capsys):
    need_compiler()
    Path("conflict.cu").write_text(CONFLICT)
    words = ["conflict.cu", "--arg", "f32:1024", "--layouts"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "tile: 1,056 wavefronts, 992 more than the least" in said and "the best takes 64." in said
    assert "__shared__ float tile[32][32 + 1];" in said
    assert "the indices stay as they are. A padding costs no more here than the best swizzle" in " ".join(said.split())
    assert main([*words, "--format", "json"]) == 0
    (study,) = json.loads(capsys.readouterr().out)["layouts"]
    assert (study["array"], study["wavefronts"], study["best"][0]["wavefronts"]) == ("tile", 1056, 64)
    flat = CONFLICT.replace("[j][threadIdx.x]", "[32 * j + threadIdx.x]").replace(
        "[threadIdx.x][j]", "[32 * threadIdx.x + j]"
    )
    Path("conflict.cu").write_text(flat.replace("[32][32]", "[1024]"))
    assert main([*words, "--row", "tile=32"]) == 0
    said = capsys.readouterr().out
    assert "padding: " in said and "costs no more" not in said, "a padding that changes each index, too"
    Path("conflict.cu").write_text(CONFLICT.replace("[32][32]", "[32][33]"))
    assert main(words) == 0
    assert "tile: no bank conflicts" in capsys.readouterr().out
    assert main([*words, "--row", "tile=x"]) == 2
    assert "write --row NAME=ELEMENTS" in capsys.readouterr().err
