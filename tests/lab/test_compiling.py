"""The lab's kernels and a learner's cells, compiled: messages at the lines of the cell, machine code, the export."""

import pytest

import gemm_lab as lab
from gemm_lab import catalog, compiling
from gemm_lab.lab import export
from gemm_lab.source_text import Edit, splice
from gpu_simulator import compiler
from gpu_simulator.compiler import CompileError
from gpu_simulator.compiler.compiler_process import CompilerProcess, CompilerStalled
from gpu_timing.machine_code.instruction_order import mma_before_use


def cell_error(text: str, region: str = "layout") -> CompileError:
    spec = catalog.kernel("t4/03")
    source = splice(spec.source, spec.file, {region: Edit(text, "cell", 2)})
    with pytest.raises(CompileError) as caught:
        compiling.compile(source, config=spec.configure(), arch="sm_75", name=spec.name, cell=(text, 2))
    return caught.value


def test_a_syntax_error_is_shown_at_the_line_of_the_cell():
    text = catalog.kernel("t4/03").regions["layout"].text.replace("(chunk ^ row % 8)", "(chnk ^ row % 8)", 1)
    first = cell_error(text).diagnostics[0]
    assert (first.file, first.line, first.severity) == ("cell", 3, "error")
    assert "chnk" in first.message and "chnk ^ row" in first.text
    assert first.text[first.caret :].startswith("chnk")


def test_refused_ptx_is_shown_at_the_line_of_the_cell():
    text = catalog.kernel("t4/03").regions["multiply"].text
    lines = text.split("\n")
    lines.insert(2, '      asm volatile("mov.u32 %0, %%nonsense;" : "=r"(frag_b[0]));')
    error = cell_error("\n".join(lines), "multiply")
    assert {(d.file, d.line) for d in error.diagnostics} == {("cell", 4)}
    assert any("%nonsense" in d.message for d in error.diagnostics)
    assert len(error.diagnostics) <= 3, "an unrolled loop repeats a complaint; it is shown once"


WIDE_MMA = """      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %0, %0, %0}, {%1, %1, %1, %1}, {%1, %1}, "
                   "{%0, %0, %0, %0};" : : "f"(0.0f), "r"(lane));"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (WIDE_MMA, "requires .target sm_80 or higher. This kernel is compiled for sm_75 (Tesla T4) here."),
        ('      asm volatile("fence.proxy.async;");', "requires .target sm_90 or higher. This kernel is"),
    ],
)
def test_ptx_of_a_newer_gpu_is_refused_with_the_one_that_was_compiled_for(text, told):
    """Without a GPU a cell is compiled for the one that its ladder is taught on, which the learner named nowhere."""
    region = catalog.kernel("t4/03").regions["multiply"].text
    assert told in str(cell_error(f"{text}\n{region}", "multiply"))


def test_other_refusals_of_ptx_do_not_name_it():
    region = catalog.kernel("t4/03").regions["multiply"].text
    error = cell_error('      asm volatile("mov.u32 %%nonsense, 1;");\n' + region, "multiply")
    assert "ptxas refuses" in str(error) and "is compiled for" not in str(error)


def in_asm(statement: str) -> CompileError:
    return cell_error(f"      {statement}\n" + catalog.kernel("t4/03").regions["multiply"].text, "multiply")


def test_an_operand_that_asm_does_not_have_is_a_sentence_and_no_internal_error():
    error = in_asm('asm volatile("mov.u32 %0, %2;" : "=r"(frag_b[0]) : "r"(lane));')
    (told,) = error.diagnostics
    assert (told.file, told.line) == ("cell", 2) and "asm names an operand that it does not have" in told.message
    assert "from %0 on" in told.message and "Internal" not in str(error)


@pytest.mark.parametrize("text", ["mov.u32 frag_b[0], %0;", "mov.b64 {frag_b[0], frag_b[1]}, %0;"])
def test_a_variable_in_the_text_of_asm_is_explained(text):
    told = [d.message for d in in_asm(f'asm volatile("{text}" : : "r"(lane));').diagnostics]
    assert sum("The text of asm knows no variables of C++: write %0, %1 … in their place" in line for line in told) == 1


def test_a_missing_semicolon_of_asm_is_explained_and_no_comment_of_the_ptx_is_blamed():
    error = in_asm('asm volatile("mov.u32 %0, 1" : "=r"(frag_b[0]));')
    assert {d.file for d in error.diagnostics} == {"cell"} and "Cuda compilation tools" not in str(error)
    assert "ends with a semicolon; the one before this has none" in str(error)


def test_errors_outside_the_region_keep_their_line():
    spec = catalog.kernel("t4/03")
    error = cell_error("// nothing here")
    wrong = {(d.file, d.line) for d in error.diagnostics}
    used = {
        (spec.file, number)
        for number, line in enumerate(spec.source.split("\n"), 1)
        if "chunk_a(" in line or "chunk_b(" in line
    }
    assert wrong <= used and wrong


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("// a\nint q = “5”;\n", 3, "“““ U+201C, LEFT DOUBLE QUOTATION MARK"),
        ("int größe = 1;\n", 2, "“ö” U+00F6"),
        ("int\u00a0q = 1;\n", 2, "token: U+00A0, NO-BREAK SPACE"),
        ("int q\u200b = 1;\n", 2, "token: U+200B, ZERO WIDTH SPACE"),
        ("\ufeffint q = 1;\n", 2, "token: U+FEFF"),
        ("int q = 1;\x01\n", 2, "U+0001, a control character"),
    ],
)
def test_a_character_that_is_not_of_cpp_is_named(text, line, says):
    error = cell_error(text + catalog.kernel("t4/03").regions["layout"].text)
    found = [note for note in error.diagnostics if "unrecognized token" in note.message]
    assert found[0].line == line and says.replace("“““", "““”") in found[0].message
    assert len({(note.line, note.message) for note in found}) == len(found), "said once a line"


@pytest.mark.parametrize("stray", ["\0", "\udcff"])
def test_what_the_compiler_would_not_read_is_refused_at_its_line(stray):
    error = cell_error(f"// one\n// two {stray}\n")
    assert [(note.file, note.line) for note in error.diagnostics] == [("cell", 3)]
    assert "type the line anew" in str(error)
    with pytest.raises(CompileError, match="test.cu, line 2"):
        compiling.compile("//\n" + stray, arch="sm_75", name="test")


def test_a_long_line_is_shown_around_its_mistake():
    long = ";" * 3000 + "chnk; " + ";" * 20_000
    found = cell_error(f"__device__ void f() {{ {long} }}\n").diagnostics
    shown = next(note for note in found if "chnk" in note.message)
    assert len(shown.text) < 300 and shown.text[shown.caret :].startswith("chnk")
    assert len(cell_error("a b c " * 100_000)._repr_html_()) < 200_000


def test_headers_that_are_not_there_are_explained():
    assert "none of the C and C++ libraries" in cell_error("#include <vector>\n").diagnostics[0].message


def test_a_backslash_at_the_end_joins_nothing_of_the_file():
    spec = catalog.kernel("t4/03")
    text = spec.regions["layout"].text + "\n// a remark \\"
    source = splice(spec.source, spec.file, {"layout": Edit(text, "cell", 2)})
    compiling.compile(source, config=spec.configure(), arch="sm_75", name=spec.name, cell=(text, 2))
    with pytest.raises(CompileError) as caught:
        wrong = source.replace("// ---- Main loop", "nothing();  // ---- Main loop")
        compiling.compile(wrong, config=spec.configure(), arch="sm_75", name=spec.name, cell=(text, 2))
    number = next(i for i, line in enumerate(spec.source.split("\n"), 1) if "// ---- Main loop" in line)
    assert (caught.value.diagnostics[0].file, caught.value.diagnostics[0].line) == (spec.file, number)


def test_html_escapes_the_learners_text():
    page = cell_error("<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_the_compiler_is_asked_once_and_for_the_same_text_never_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path))
    spec, asked, real = catalog.kernel("t4/03"), [], CompilerProcess.ask
    monkeypatch.setattr(CompilerProcess, "ask", lambda self, *question: asked.append(1) or real(self, *question))
    for count in (1, 1):
        compiling.compile(f"{spec.source}// once\n", config=spec.configure(), arch="sm_75", name=spec.name)
        assert len(asked) == count


def test_sass_lines_belong_to_source_lines():
    spec = catalog.kernel("t4/03")
    compiled = compiling.compile(spec.source, config=spec.configure(), arch="sm_75", name=spec.name)
    lines = compiler.disassemble(compiled)
    source = spec.source.split("\n")
    taught = {"HMMA": "mma_m16n8k8_f16(", "LDSM": "ldmatrix_x4", "BAR": "__syncthreads", "STG": "gmem_d[at]"}
    for opcode, text in taught.items():
        places = {line.line for line in lines if line.opcode.startswith(opcode)}
        assert places and all(text in source[number - 1] or text in source[number] for number in places), opcode
    assert {line.inner[0] for line in lines if line.opcode.startswith("HMMA")} == {"ptx/mma_sync.cuh"}
    assert lines[-1].address > 0 and [line.address for line in lines] == sorted(line.address for line in lines)


def test_the_export_is_one_file_that_compiles():
    for name in ("simt/04", "t4/03"):
        spec = catalog.kernel(name)
        text = export.standalone(spec, spec.configure())
        assert '#include "' not in text and "int main" in text
        device_part = text.split("// ---- Host")[0]
        assert compiling.compile(device_part, arch="sm_75", name="export").threads == 256


def test_refused_ptx_in_an_inlined_function_of_the_cell_is_charged_to_the_cell():
    text = catalog.kernel("t4/03").regions["layout"].text.split("\n")
    text[1] = (
        '__device__ __forceinline__ int chunk_a(int row, int chunk) { int r; asm volatile("mov.u32 %0, %%oops;" '
        ': "=r"(r)); return r; }'
    )
    error = cell_error("\n".join(text))
    assert {(d.file, d.line) for d in error.diagnostics} == {("cell", 3)}


@pytest.mark.long
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_only_the_pipelined_rung_runs_ahead_everywhere(arch):
    worst = [min(mma_before_use(lab.kernel(f"t4/0{number}").sass(arch=arch).lines)) for number in (4, 6, 8)]
    assert worst[:2] == [0, 0] and worst[2] >= 8


def test_a_compiler_without_processor_time_is_no_verdict_on_the_source(monkeypatch):
    def stalled(*_, **__):
        raise CompilerStalled("The compiler got no processor time.")

    monkeypatch.setattr(compiler, "compile", stalled)
    with pytest.raises(compiling.NotJudged, match="no processor time"):
        lab.kernel("t4/03").compile()
