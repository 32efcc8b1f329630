"""Compilation, the learner's own lines in every message, the cache, the speed."""

import pytest

from gemm_lab import catalog, compiling
from gemm_lab.catalog import Edit, splice
from gemm_lab.lab import export
from gpu_simulator import compiler
from gpu_simulator.compiler import CompileError
from gpu_simulator.compiler.compiler_process import CompilerProcess
from gpu_simulator.compiler.diagnostics import parse_nvrtc, ptxas_warnings, unreadable
from gpu_simulator.errors import LabError

KERNEL = """#include "config.cuh"
extern "C" __global__ void __launch_bounds__(64) gemm(float* d, int n) {
  __shared__ float tile[SIZE];
  tile[threadIdx.x] = n;
  __syncthreads();
  d[threadIdx.x] = tile[63 - threadIdx.x];
}
"""


def build(source=KERNEL, arch="sm_75", **config):
    return compiling.compile(source, config={"SIZE": 64, **config}, arch=arch, name="test")


def test_compiled_reports_resources():
    made = build()
    assert (made.threads, made.static_smem, made.dynamic_smem, made.spill_stores) == (64, 256, 0, 0)
    assert made.registers > 0 and made.cubin.startswith(b"\x7fELF") and ".entry gemm" in made.ptx
    assert build(SIZE=128).static_smem == 512


def test_dynamic_shared_memory_comes_from_the_source():
    source = "constexpr int SMEM_BYTES = 3 * 4096;\n" + KERNEL.replace(
        "__shared__ float tile[SIZE]", "extern __shared__ float tile[]"
    )
    made = build(source)
    assert (made.static_smem, made.dynamic_smem, made.smem) == (0, 12288, 12288)


def test_ptx_names_no_folder_of_this_machine():
    assert "/" not in "".join(line for line in build().ptx.split("\n") if ".file" in line)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_architectures(arch):
    assert f".target {arch}" in build(arch=arch).ptx


def test_an_unknown_architecture_lists_what_there_is():
    with pytest.raises(LabError, match="sm_75"):
        build(arch="sm_12")


# ---- Messages at the learner's own line ----


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


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ('a.cu(3): error: Internal Compiler Error (codegen): "no way!"', "and says only “no way”. Something in the"),
        ("Internal Compiler Error", "an error of its own at this source. Something in the source is not valid"),
    ],
)
def test_an_internal_error_of_the_compiler_is_a_sentence(log, says):
    told = parse_nvrtc(log, {}, ())
    message = told[0].message if told else unreadable(log)
    assert says in message and "undo the last change" in message and "Internal" not in message


def test_a_log_without_any_message_is_shown_as_it_is():
    assert unreadable(" nothing known \n") == "nothing known" and "no reason" in unreadable("")


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


def test_a_missing_kernel_is_said():
    with pytest.raises(CompileError, match="no kernel called gemm.*found other"):
        compiling.compile('extern "C" __global__ void other() {}', arch="sm_75", name="test")


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
        build("//\n" + stray + KERNEL)


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


def test_too_much_shared_memory_is_said_in_words_and_bytes():
    with pytest.raises(CompileError) as caught:
        build(SIZE=20_000)
    (note,) = caught.value.diagnostics
    assert "too much shared data (80,000 bytes, 49,152 max)" in note.message and "info" not in note.message


RING = """extern "C" __global__ void __launch_bounds__(256, 1) gemm(const void* map, float* d) {
  __shared__ alignas(128) float tile[1024];
  __shared__ alignas(8) unsigned long long full;
  const unsigned to = __cvta_generic_to_shared(tile), barrier = __cvta_generic_to_shared(&full);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
  __syncthreads();
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 128) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" :: "r"(barrier) : "memory");
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];"
                   :: "r"(to), "l"(map), "r"(0), "r"(barrier) : "memory");
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  asm volatile("{ .reg .pred p; wait: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra wait; }"
               :: "r"(barrier) : "memory");
  d[threadIdx.x] = tile[threadIdx.x];
}
"""


def test_lost_performance_that_ptxas_mentions_is_a_warning():
    """On sm_120a a copy into a cluster's shared memory becomes a call, and with it setmaxnreg is ignored."""
    lost = compiling.compile(RING.replace(", 1) gemm", ") gemm"), arch="sm_90a", name="test").warnings
    assert [(w.severity, w.message[:34]) for w in lost] == [("warning", "(C7508) Potential Performance Loss")]
    assert compiling.compile(RING, arch="sm_90a", name="test").warnings == ()
    if compiler.version() >= (12, 8):
        (warning,) = compiling.compile(RING, arch="sm_120a", name="test").warnings
        assert "Potential Performance Loss: 'setmaxnreg' ignored" in str(warning)


def test_a_log_of_ptxas_gives_each_warning_once():
    log = (
        "ptxas info    : (C7506) Potential Performance Loss: 'setmaxnreg' ignored.\n" * 2
        + "ptxas warning : Value of threads per SM is out of range\nptxas info    : 0 bytes gmem\n"
        + "ptxas info    : Used 24 registers, used 1 barriers, 4104 bytes smem\n"
    )
    assert [str(warning) for warning in ptxas_warnings(log)] == [
        "ptxas: warning: (C7506) Potential Performance Loss: 'setmaxnreg' ignored.",
        "ptxas: warning: Value of threads per SM is out of range",
    ]


def test_html_escapes_the_learners_text():
    page = cell_error("<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


# ---- Cache and speed ----


def test_the_cache_returns_the_same_and_notices_every_change(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path))
    first = build()
    assert build() == first and len(list(tmp_path.rglob("*.kernel"))) == 1
    assert build(SIZE=65).key != first.key
    assert build(KERNEL + "\n").key != first.key
    assert build(arch="sm_80").key != first.key
    for file in tmp_path.rglob("*.kernel"):
        file.write_bytes(b"broken")
    assert build() == first


def test_a_full_disk_costs_the_cache_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr("pathlib.Path.replace", full)
    assert build().registers > 0 and list((tmp_path / "compiled").iterdir()) == []


def test_the_compiler_is_asked_once_and_for_the_same_text_never_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path))
    spec, asked, real = catalog.kernel("t4/03"), [], CompilerProcess.ask
    monkeypatch.setattr(CompilerProcess, "ask", lambda self, *question: asked.append(1) or real(self, *question))
    for count in (1, 1):
        compiling.compile(f"{spec.source}// once\n", config=spec.configure(), arch="sm_75", name=spec.name)
        assert len(asked) == count


# ---- SASS ----


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
