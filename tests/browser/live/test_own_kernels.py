# ruff: noqa: F811
"""Kernels as people type them, in the live page in Chromium: their results are those of NVIDIA's compiler.

It needs what `test_live_page.py` needs, in the folder above.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.browser.live.live_page import (  # noqa: F401
    ADD,
    MARKS,
    address,
    anew,
    argument,
    choose,
    launch_of,
    page,
    run,
    write,
)
from tests.tools.test_live_page import lab_page  # noqa: F401

pytestmark = MARKS
KERNELS = Path(__file__).with_name("own_kernels.cu")
FORM = """[document.getElementById("name").value,
  ...Array.from(document.querySelectorAll("#arguments label"), (label) => label.firstChild.textContent.trim())]"""


def own_kernels():
    """(name, launch, source) of each kernel of own_kernels.cu; every array is printed."""
    source = ""
    for part in KERNELS.read_text().split("//// ")[1:]:
        head, _, text = part.partition("\n")
        words, _, more = head.partition(" | ")
        name, grid, block, *args = words.split()
        source = text or source
        for number, word in enumerate(args):
            if found := re.match(r"\w+:(\d+)", word):
                more += f" --print {number}[0:{min(int(found[1]), 1000 if 'x' not in word else 15)}]"
        yield name, {"grid": grid, "block": block, "args": args, "more": more.strip()}, source


def differences(page, native):
    """What an answer of the page has otherwise than that of the same page with NVIDIA's compiler."""
    keys = ["verdict", "output"]
    lines = [[(one["line"], one["wavefronts"]) for one in answer["lines"]] for answer in (page, native)]
    notes = [[one["line"] for one in answer["notes"]] for answer in (page, native)]
    if native["verdict"] == "It does not compile.":  # two compilers find a mistake at the one or the other line
        notes = [bool(lines) for lines in notes]
    if any("longer than its limit" in one["text"] or "reached its limit" in one["text"] for one in native["notes"]):
        notes = []  # where it is at the end of its seconds
    texts = [[re.split(r"[^-+\w.]+", text) for text in answer.get("printed", [])] for answer in (page, native)]
    found = [key for key in keys if page.get(key) != native.get(key)]
    found += ["lines"] * (lines[0] != lines[1]) + ["notes"] * (notes[:1] != notes[1:])
    return found + ["printed"] * (not alike(*texts))


def alike(printed, others):
    """Whether the words are the same, and numbers, which two compilers may round differently, nearly the same."""
    if [len(words) for words in printed] != [len(words) for words in others]:
        return False
    for word, other in ((a, b) for words in zip(printed, others, strict=True) for a, b in zip(*words, strict=True)):
        if word != other and not np.isclose(float(word or "inf"), float(other or "inf"), rtol=2e-5, atol=1e-6):
            return False
    return True


@pytest.mark.timeout(1800)
def test_kernels_as_people_type_them_are_as_with_nvidias_compiler(page, address, lab_page):
    anew(page, address + "#kernel=own/yours")
    page.evaluate("localStorage.clear()")
    found, seconds = {}, []
    for name, launch, source in own_kernels():
        (known,) = json.loads(lab_page.kernels(source))
        launch["kernel"] = known["name"]
        write(page, source)
        page.wait_for_function(
            f"([one]) => {FORM}.join() === one",
            arg=[re.sub(r"\s*__restrict__", "", ",".join([known["name"], *known["parameters"]]))],
        )
        for key in ("grid", "block", "more"):
            page.fill(f"#{key}", launch[key])
        for number, word in enumerate(launch["args"]):
            argument(page, number, word)
        answer = run(page)
        seconds.append((answer["seconds"], name))
        native = json.loads(lab_page.run(json.dumps({"name": "own/yours", "source": source, "launch": launch})))
        if wrong := differences(answer, native):
            found[name] = wrong
        if name == "transpose_padded":
            printed = [text.replace("1", "2", 1) for text in answer["printed"]]
            lines = [{**one, "wavefronts": one["wavefronts"] + 1} for one in answer["lines"]]
            assert differences({**answer, "printed": printed, "lines": lines}, native) == ["lines", "printed"]
    print(len(seconds), "kernels; seconds, sorted:", sorted(seconds))
    assert not found and len(seconds) == 49


def test_a_kernel_pasted_and_run_at_once(page, address):
    anew(page, address + "#kernel=own/yours")
    page.evaluate("localStorage.clear()")
    write(page, ADD.replace("add", "sum"))
    assert run(page)["passed"] and launch_of(page)[0][0] == "sum" and page.is_visible("#guessed")
    write(page, "template <int N> " + ADD.replace("add<<<", "add<8><<<"))
    assert run(page)["passed"] and launch_of(page)[0][0] == "add<8>"
    write(page, ADD)
    assert run(page)["passed"] and launch_of(page)[0][0] == "add", "a template's arguments go with the template"


def test_values_can_be_read_and_compared(page):
    choose(page, "own/yours")
    write(page, ADD)
    page.wait_for_function("document.getElementById('name').value === 'add'")
    page.fill("#expected", "c = a + b + (n == 1000)")
    for number, word in enumerate(("f32:1000:ones", "f32:1000:arange", "f32:1000", "1000")):
        argument(page, number, word)
    answer = run(page)
    assert not answer["passed"] and "but c is not as expected" in page.inner_text("#result .bad")
    page.fill("#expected", "c = a + b")
    assert run(page)["passed"] and "c is as expected" in page.inner_text("#result .good")
    page.click("summary:has-text('All of float* c')")
    assert "[992]  993" in page.inner_text("#result pre >> nth=2")
