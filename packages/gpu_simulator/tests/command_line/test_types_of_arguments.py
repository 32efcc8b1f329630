"""Arguments of the command line by the types of the parameters: structs, arrays of structs, numbers of 16 bits."""

import numpy as np
import pytest
from compiling import need_compiler

STRUCTS = """struct View { const float* from; float* to; long long n; };
__global__ void twice(View v) { if (threadIdx.x < v.n) v.to[threadIdx.x] = 2 * v.from[threadIdx.x]; }
__global__ void batched(const float* const* a, float* o) { o[blockIdx.x] = a[blockIdx.x][1]; }
"""


def test_structs_and_arrays_of_pointers_are_written_in_brackets(run, tmp_path):
    need_compiler()
    (tmp_path / "structs.cu").write_text(STRUCTS)
    np.save("want.npy", 2 * np.arange(8, dtype=np.float32))
    words = ("structs.cu", "--kernel", "twice", "--arg", "{f32:8:arange, f32:8, i64=8}")
    code, out = run(*words, "--print", "0.1[2:4]", "--compare", "0.1=want.npy", "--save", "all")
    assert code == 0 and "0.1[2:4] = [4., 6.]" in out and "equal to the reference" in out
    assert "argument 0.0, float32:8: unchanged" in out and np.load("all/array0.1.npy").tolist() == list(range(0, 16, 2))
    code, out = run("structs.cu", "--kernel", "twice", "--arg", "{f32:8:arange, f32:8}")
    assert code == 2 and "v of twice is a View (float* from, float* to, long long n): 2 of its 3 members" in out
    code, out = run("structs.cu", "--kernel", "twice", "--arg", "{f32:8:arange, 2.0, i64=8}")
    assert code == 2 and "a number stands in the place of the pointer to" in out
    code, out = run("structs.cu", "--kernel", "twice", "--arg", "bytes=00")
    assert code == 2 and "has 24 bytes, but 1 were given" in out
    words = ("structs.cu", "--kernel", "batched", "--grid", "2", "--block", "1")
    code, out = run(*words, "--arg", "[f32:2:arange, f32:2:5]", "--arg", "f32:2", "--print", "1")
    assert code == 0 and "1 = [1., 5.]" in out
    code, out = run(*words, "--arg", "[f32:2:arange, f32:2:uninit]", "--arg", "f32:2", "--hazards")
    assert code == 1 and "reads byte 4 of argument 0.1, which nothing has written" in out


BODIES = """struct Body { float position[3]; int id; };
__global__ void moved(Body* b, const float4* by) { b[threadIdx.x].position[1] += b[threadIdx.x].id + by[threadIdx.x].w; }
"""


def test_an_array_of_structs_is_written_by_the_types_of_its_members(run, tmp_path):
    need_compiler()
    (tmp_path / "bodies.cu").write_text(BODIES)
    words = ("bodies.cu", "--block", "4", "--arg", "f32:4x4:ones", "--arg")
    start = (*words[:3], "--arg", "{position=f32:3, id=i32}:4:arange", *words[3:5])
    code, out = run(*start, "--print", "0[2]", "--save", "0=moved.npy")
    assert code == 0 and "0[2] = ([ 6., 10.,  8.], 2)" in out
    np.save("want.npy", np.load("moved.npy"))
    assert np.load("moved.npy")["position"][:, 1].tolist() == [2, 6, 10, 14]
    assert run(*start, "--compare", "0=want.npy")[0] == 0
    wrong = np.load("want.npy")
    wrong["id"][3] = 9
    np.save("want.npy", wrong)
    code, out = run(*start, "--compare", "0=want.npy")
    assert code == 1 and '0["id"][3] = 3, in the reference 9' in out
    for word, size in (("{f32:3}:4", 12), ("{f32:3, i32, i32}:4", 20), ("{f32:3, u8}:4", 16)):
        code, out = run(*words[:3], "--arg", word, *words[3:5])
        assert (code, size == 16) == ((0, True) if size == 16 else (2, False))
        assert size == 16 or f"its structs have {size} bytes each, and moved takes Body* there, of 16" in out
        assert size == 16 or "write {position=f32:3, id=i32}:4." in out


TYPES = """#include <cuda_bf16.h>
__global__ void half_way(float* p, __nv_bfloat16* b) { p[threadIdx.x] += (float)b[threadIdx.x]; }
"""


@pytest.mark.parametrize(("first", "second", "says"), [
    ("f32:32", "bf16:32", ""),
    ("u8:128", "u16:32", ""),  # bytes and bits
    ("f64:32", "bf16:32", "“f64:32” does not fit argument 0: half_way takes float* there, so give an array of type f32"),
    ("bf16:32", "bf16:32", "“bf16:32” does not fit argument 0"),
    ("wide.npy", "bf16:32", "“wide.npy”, an array of float64, does not fit argument 0"),
    ("f32:32", "f16:32", "half_way takes __nv_bfloat16* there, so give an array of type bf16"),
])  # fmt: skip
def test_the_types_of_arrays_are_those_of_the_pointers(run, tmp_path, first, second, says):
    need_compiler()
    (tmp_path / "types.cu").write_text(TYPES)
    np.save("wide.npy", np.zeros(32))
    code, out = run("types.cu", "--arg", first, "--arg", second)
    assert code == (2 if says else 0) and says in out


def test_numbers_of_16_bits_are_shown_as_numbers(run, tmp_path):
    need_compiler()
    head = "#include <cuda_bf16.h>\n__constant__ __nv_bfloat16 half_;\n"
    (tmp_path / "half.cu").write_text(
        f"{head}__global__ void k(__nv_bfloat16* b) {{ b[threadIdx.x] = b[threadIdx.x] + half_; }}\n"
    )
    np.save("floats.npy", np.arange(4, dtype=np.float32) + 0.5)
    words = ("half.cu", "--block", "4", "--arg", "bf16:4:arange", "--set", "half_=bf16:1:0.5", "--print", "0[1:3]")
    code, out = run(*words, "--compare", "0=floats.npy", "--save", "0=bits.npy")
    assert code == 0 and "argument 0, bfloat16:4: 0.5 1.5 2.5 3.5" in out and "0[1:3] = [1.5, 2.5]" in out
    assert np.load("bits.npy").dtype == np.uint16 and "half_, bfloat16:1: unchanged" in out
    assert run(*words, "--compare", "0=bits.npy")[0] == 0
