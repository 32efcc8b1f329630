"""Structs with pointers and arrays of pointers as kernel arguments."""

import numpy as np
import pytest
from compiling import need_compiler

from gpu_simulator import LaunchError, MemoryFault, simulate
from gpu_simulator.hardware.tensor_map import TensorMap
from gpu_simulator.machine.argument_structs import arrays_in

SOURCE = """
struct View { const float* from; float* to; int n; };
struct Scaled { short step; View view; double factor; bool on; char name[3]; };
struct alignas(16) Quad { float4 v; int* p; };
__global__ void twice(View v) { int i = threadIdx.x; if (i < v.n) v.to[i] = 2 * v.from[i]; }
__global__ void scale(Scaled s) {
  int i = threadIdx.x * s.step;
  if (s.on && s.name[2] == 7) s.view.to[i] = s.factor * s.view.from[i];
}
__global__ void batched(const float* const* a, float* o) { o[8 * blockIdx.x + threadIdx.x] = a[blockIdx.x][threadIdx.x]; }
__global__ void views(const View* v) { v += blockIdx.x; v->to[threadIdx.x] = -v->from[threadIdx.x]; }
__global__ void only(int** p, int* o) { o[0] = p[1] == nullptr; o[1] = *p[0]; }
__global__ void numbers(unsigned long long n, float* o) { o[0] = n; }
"""


@pytest.fixture(autouse=True)
def compiler():
    need_compiler()


def floats(n: int = 8) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(1, n + 1, dtype=np.float32), np.zeros(n, np.float32)


def test_a_struct_is_a_tuple_of_its_members():
    a, o = floats()
    report = simulate(SOURCE, "twice", 1, 32, [(a, o, 6)], observers=("hazards",))
    assert o.tolist() == [2, 4, 6, 8, 10, 12, 0, 0] and not report.hazards


def test_members_lie_where_cpp_places_them():
    a, o = floats()
    simulate(SOURCE, "scale", 1, 4, [(np.int16(2), (a, o, 8), np.float64(0.5), True, b"\0\0\7")])
    assert o.tolist() == [0.5, 0, 1.5, 0, 2.5, 0, 3.5, 0]


def test_an_array_of_pointers_is_a_list():
    a, b = floats()[0], -floats()[0]
    o = np.zeros(16, np.float32)
    simulate(SOURCE, "batched", 2, 8, [[a, b], o])
    assert np.array_equal(o, [*a, *b])
    number, answers = np.array([7], np.int32), np.zeros(2, np.int32)
    simulate(SOURCE, "only", 1, 1, [[number, None], answers])
    assert answers.tolist() == [1, 7]


def test_an_array_of_structs_is_a_list_of_tuples():
    (a, o), (b, p) = floats(), floats()
    simulate(SOURCE, "views", 2, 8, [[(a, o, 8), (b, p, 8)]])
    assert np.array_equal(o, -a) and np.array_equal(p, -b)


def test_a_fault_names_the_member():
    a, o = floats()
    with pytest.raises(MemoryFault, match=r"accessed .* which would be v\.to\[4\], .*past the end of v\.to"):
        simulate(SOURCE, "twice", 1, 32, [(a, o[:4].copy(), 8)])


@pytest.mark.parametrize(
    ("kernel", "args", "says"),
    [
        (
            "twice",
            lambda a, o: [(a, o)],
            "v of twice is a View (float* from, float* to, int n): 2 of its 3 members were given",
        ),
        (
            "twice",
            lambda a, o: [(a, o, 1, 2, 3)],
            "a struct of 24 bytes, and these members make 32: pointer at 0, pointer at 8, int32 at 16",
        ),
        ("twice", lambda a, o: [()], "0 of its 3 members were given"),
        ("twice", lambda a, o: [(a, o, "8")], "argument 0.2 is a str"),
        ("twice", lambda a, o: [[a, o]], "argument 0 is a list"),
        ("batched", lambda a, o: [[1.0, 2.0], o], "give arrays, None or tuples in it, or for numbers a NumPy array"),
        ("batched", lambda a, o: [[], o], "argument 0 is a list"),
        ("batched", lambda a, o: [[[1.0, 2.0], [3.0, 4.0]], o], "argument 0 is a list"),
        ("batched", lambda a, o: [[a, a], o.astype(">f4")], "argument 1 has its bytes in the other order (>f4)"),
        ("batched", lambda a, o: [[a[::2], a], o], "argument 0.0 must be a contiguous array"),
        ("numbers", lambda a, o: [(a, o), o], "argument 0 is a tuple; pass"),
    ],
)
def test_mistakes_get_a_sentence(kernel, args, says):
    with pytest.raises(LaunchError) as error:
        simulate(SOURCE, kernel, 1, 8, args(*floats()))
    assert says in str(error.value)


def test_a_tensor_map_may_be_a_member():
    source = """struct alignas(64) Map { char bytes[128]; };
    struct Both { Map map; int* o; };
    __global__ void k(const __grid_constant__ Both b) {
      __shared__ alignas(128) int tile[32]; __shared__ alignas(8) unsigned long long bar;
      unsigned at = __cvta_generic_to_shared(&bar), to = __cvta_generic_to_shared(tile);
      if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {32}], [%2];"
                     ::"r"(to), "l"(&b.map), "r"(at) : "memory");
      }
      __syncthreads();
      asm volatile("{ .reg .pred p;\\nA: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\\n@!p bra A; }" ::"r"(at) : "memory");
      b.o[threadIdx.x] = tile[threadIdx.x];
    }"""
    a, o = np.arange(64, dtype=np.int32), np.zeros(32, np.int32)
    simulate(source, "k", 1, 32, [(TensorMap.of(a, [32]), o)], arch="sm_90a")
    assert np.array_equal(o, a[32:])
    assert [*arrays_in([(TensorMap.of(a, [32]), o), 5, [a, (3, o)]])] == ["0.0", "0.1", "2.0", "2.1.1"]
