"""malloc and free in device code: memory of each thread, freed and used again, with its mistakes found."""

import numpy as np
import pytest

from gpu_simulator.faults import MemoryFault

LIST = """
struct Node { int value; Node* next; };
extern "C" __global__ void kernel(int* out, int n) {
  Node* head = nullptr;
  for (int i = 0; i < n; i++) head = new Node{i + int(threadIdx.x), head};
  int sum = 0;
  while (head) { sum += head->value; Node* next = head->next; delete head; head = next; }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}"""
WORDS = """
extern "C" __global__ void kernel(int* out) {
  int* p = (int*)malloc(12);
  p[0] = threadIdx.x; p[2] = 5;
  out[threadIdx.x] = p[0] + p[2];
  LAST
}"""


def test_lists_of_all_threads(cuda):
    out, thread = np.zeros((3, 64), np.int32), np.arange(64)
    report = cuda(LIST, out, 5, grid=3, block=64, observers=("hazards",))
    assert (out == 10 + 5 * thread).all() and report.hazards == []


def test_freed_memory_is_used_again(cuda):
    source = 'extern "C" __global__ void kernel(int* out) { for (int i = 0; i < 100; i++) free(malloc(64 << 10)); }'
    cuda(source, np.zeros(1, np.int32), block=32)  # 200 MB in all, 2 MB at a time


def test_a_heap_that_is_full_gives_null(cuda):
    source = (
        'extern "C" __global__ void kernel(int* out) { void* p = malloc(1 << 10); out[threadIdx.x] = p != nullptr; }'
    )
    for heap, expected in ((8 * 1040, 8), (64 << 10, 32), (0, 0)):
        out = np.zeros(32, np.int32)
        cuda(source, out, heap_bytes=heap)
        assert out.sum() == expected and (np.diff(out) <= 0).all()


def test_new_memory_holds_nan(cuda):
    out = np.zeros(32, np.float32)
    cuda(
        'extern "C" __global__ void kernel(float* out) { float* p = new float[2]; out[threadIdx.x] = p[1]; delete[] p; }',
        out,
    )
    assert np.isnan(out).all()


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("free(p);", None),
        ("p[3] = 1;", r"0 bytes past the end of the memory of malloc, call 1 \(12 bytes\)"),
        ("free(p); out[0] = p[0];", "in the memory of malloc, call 1, which was freed"),
        ("free(p); free(p);", "which was freed before"),
        ("free(p + 1);", "malloc has given no such address"),
        ("free(out);", "malloc has given no such address"),
        ("free(nullptr);", None),
    ],
)
def test_mistakes(cuda, last, said):
    out = np.zeros(32, np.int32)
    if said is None:
        cuda(WORDS.replace("LAST", last), out)
        assert (out == np.arange(32) + 5).all()
    else:
        with pytest.raises(MemoryFault, match=said):
            cuda(WORDS.replace("LAST", last), out)


def test_two_threads_that_share_an_allocation_race_as_with_any_array(cuda):
    source = """
    extern "C" __global__ void kernel(int* out) {
      __shared__ int* p;
      if (threadIdx.x == 0) p = (int*)malloc(256);
      __syncthreads();
      p[threadIdx.x] = 2 * threadIdx.x;
      SYNC
      out[threadIdx.x] = p[63 - threadIdx.x];
      __syncthreads();
      if (threadIdx.x == 0) free(p);
    }"""
    for sync, races in (("__syncthreads();", 0), ("", 1)):
        out = np.zeros(64, np.int32)
        report = cuda(source.replace("SYNC", sync), out, block=64, observers=("hazards",))
        assert len([found for found in report.hazards if found.kind == "race"]) == races
        assert np.array_equal(out, 126 - 2 * np.arange(64))


@pytest.mark.parametrize("last", [0, 40])
@pytest.mark.parametrize("use", ["out[threadIdx.x] = p[63 - threadIdx.x];", "p[threadIdx.x] = 1;"])
def test_an_allocation_that_is_freed_while_others_use_it(cuda, use, last):
    source = f"""
    extern "C" __global__ void kernel(int* out) {{
      __shared__ int* p;
      if (threadIdx.x == 0) p = new int[64]();
      __syncthreads();
      {use}
      SYNC
      if (threadIdx.x == {last}) free(p);
    }}"""
    for sync, races in (("__syncthreads();", 0), ("", 1)):
        report = cuda(source.replace("SYNC", sync), np.zeros(64, np.int32), block=64, observers=("hazards",))
        said = [str(found) for found in report.hazards]
        assert len(said) == races and all(" frees byte " in one for one in said), said
