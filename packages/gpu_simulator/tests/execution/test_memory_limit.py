"""A launch that needs too much memory is refused or stopped with a sentence; one that can be made to fit, runs."""

import gc
import re
import tracemalloc

import compiling
import numpy as np
import pytest

import gpu_simulator
from gpu_simulator import launching, memory_limit
from gpu_simulator.errors import LaunchError, SimulatorError
from gpu_simulator.machine import resident_blocks
from gpu_simulator.machine.address_space import GLOBAL_BASE
from gpu_simulator.machine.memory import GlobalMemory
from gpu_simulator.memory_limit import FORMER, VARIABLE, free_bytes, in_words, limit_bytes

HEAD = 'extern "C" __global__ void kernel'
MB = 1 << 20
# A table in local memory: the index is known only when it runs.
LOCAL = (
    HEAD
    + """(int* p, int n) {
  int table[SIZE];
  for (int i = 0; i < n; i++) table[(threadIdx.x + i * i) % SIZE] = blockIdx.x + i;
  p[blockIdx.x * blockDim.x + threadIdx.x] = table[threadIdx.x % SIZE];
}"""
)


def local(size):
    return compiling.compile(LOCAL.replace("SIZE", str(size)), arch="sm_80", name="kernel.cu", entry="kernel")


def run(kernel, grid=1, block=256, n=1, **options):
    out = np.zeros(grid * block, np.int32)
    gpu_simulator.launch(kernel, "kernel", grid, block, [out, n], **options)
    return out


def test_a_large_local_array_is_refused_with_what_would_work():
    with pytest.raises(LaunchError) as said:
        run(local(100_000), block=1024, max_bytes=64 * MB)
    text = str(said.value)
    assert re.search(r"would need about 39\d\.\d MB", text) and "the 64.0 MB that it may take" in text
    assert "local memory of 400,000 bytes a thread" in text and "local arrays smaller" in text
    assert "max_bytes=" in text and VARIABLE in text
    assert text.count(". ") == 1, "one sentence says what is wrong, one what would work"


def test_fewer_blocks_are_resident_where_memory_is_short(monkeypatch):
    kernel, sizes = local(1000), []

    class Seen(resident_blocks.ResidentBlocks):
        def __init__(self, launch, numbers):
            sizes.append(len(numbers))
            super().__init__(launch, numbers)

    monkeypatch.setattr(launching, "ResidentBlocks", Seen)
    plenty = run(kernel, grid=40, max_bytes=200 * MB)
    assert sizes == [40]
    sizes.clear()
    assert np.array_equal(run(kernel, grid=40, max_bytes=4 * MB), plenty)
    assert sum(sizes) == 40 and max(sizes) <= 3
    with pytest.raises(LaunchError, match="one block resident"):
        run(kernel, grid=40, max_bytes=MB)


def test_large_arrays_are_refused_before_they_are_copied():
    a = np.zeros(8 * MB, np.uint8)
    with pytest.raises(LaunchError, match=r"16\.\d MB for the global arrays.*smaller arrays"):
        gpu_simulator.launch(local(4), "kernel", 1, 32, [a, 1], max_bytes=10 * MB)


def test_hazards_need_more():
    a, kernel = np.zeros(2 * MB, np.uint8), local(4)
    gpu_simulator.launch(kernel, "kernel", 1, 32, [a, 1], max_bytes=10 * MB)
    with pytest.raises(LaunchError, match="record of global memory.*hazards at a smaller size"):
        gpu_simulator.launch(kernel, "kernel", 1, 32, [a, 1], max_bytes=10 * MB, observers=("hazards",))
    source = HEAD + "(unsigned char* p) { for (int i = threadIdx.x; i < 2097152; i += 1024) p[i] = 1; }"
    bytewise = compiling.compile(source, arch="sm_80", name="kernel.cu", entry="kernel")
    with pytest.raises(gpu_simulator.BudgetExceeded, match="record of global memory would bring it to"):
        gpu_simulator.launch(
            bytewise, "kernel", 1, 1024, [a.view(np.float32)], max_bytes=40 * MB, observers=("hazards",)
        )


def test_the_record_of_bytes_is_counted_before_the_launch_begins():
    """Cells of one byte take 24 bytes each; an array of bytes that is read in words has cells of four."""
    bytewise = compiling.compile(HEAD + "(char* a, int i) { a[i] = 1; }", arch="sm_80", entry="kernel")
    words = compiling.compile(HEAD + "(int* a, int i) { a[i] = 1; }", arch="sm_80", entry="kernel")
    for kernel, array, each in ((bytewise, np.zeros(MB, np.uint8), 24), (words, np.zeros(MB, np.uint8), 6)):
        with pytest.raises(LaunchError, match=f"record of global memory, {each} bytes for each byte of it"):
            gpu_simulator.launch(kernel, "kernel", 1, 1, [array, 0], max_bytes=7 * MB, observers=("hazards",))
    array = np.zeros(MB, np.uint8)
    gpu_simulator.launch(words, "kernel", 1, 1, [array, 0], max_bytes=9 * MB, observers=("hazards",))
    assert array[0] == 1


def test_an_index_that_overflows_is_named():
    """Arrays of 2 GB are too large for a test, so only the sentence is asked for, of a memory without contents."""
    memory = object.__new__(GlobalMemory)
    memory.starts, memory.names, size = [GLOBAL_BASE], ["argument 0"], 2_150_400_000
    memory.ends, memory.aside = [GLOBAL_BASE + size], set()
    said = memory.nearest(GLOBAL_BASE + 239_990 * 8960 - 2**32, 1)
    assert "2,144,656,896 bytes before argument 0 (2,150,400,000 bytes)" in said
    assert "holds 2,147,483,647 at most" in said and "it is 2,150,310,400" in said
    assert "it is 537,000,000," in memory.nearest(GLOBAL_BASE + 4 * (537_000_000 - 2**32), 4), "elements, not bytes"
    for outside in (-4, size, size - 2**31):
        assert "overflowed" not in memory.nearest(GLOBAL_BASE + outside, 4)
    memory.ends = [GLOBAL_BASE + 4096]
    assert "overflowed" not in memory.nearest(GLOBAL_BASE - 4, 4)


def test_endless_printing_is_stopped(cuda):
    source = HEAD + '(volatile int* p) { while (p[0] == 0) printf("still here, and here, and here\\n"); }'
    with pytest.raises(gpu_simulator.BudgetExceeded, match="the text of printf"):
        cuda(source, np.zeros(1, np.int32), max_bytes=MB // 2, max_instructions=10_000_000)
    with pytest.raises(gpu_simulator.BudgetExceeded, match="instructions"):
        cuda(source, np.zeros(1, np.int32), max_bytes=9 * MB, max_instructions=100_000)


def test_a_flood_is_cut_and_says_so(cuda):
    source = (
        HEAD + '(int* p) { for (int i = 0; i < p[0]; ++i) printf("line %d, which has about 40 characters\\n", i); }'
    )
    output = cuda(source, np.full(1, 1000, np.int32), block=64, max_bytes=9 * MB).output
    assert 2**20 <= len(output) < 2**20 + 4000 and output.startswith("line 0,")
    shown = output.count("line ")
    assert output.endswith(f"… {64_000 - shown:,} more calls of printf are not shown")


def test_blocks_that_wait_for_others_keep_what_they_have(cuda, monkeypatch):
    monkeypatch.setattr(launching, "QUANTUM", 20)
    source = (
        HEAD
        + """(volatile int* p) {
      int mine[64]; mine[threadIdx.x % 64] = threadIdx.x;
      if (blockIdx.x == gridDim.x - 1) p[0] = 1;
      while (p[0] == 0) mine[p[1]]++;
      p[2] = mine[threadIdx.x % 64];
    }"""
    )
    cuda(source, np.zeros(4, np.int32), grid=200, block=1024, max_bytes=400 * MB)
    with pytest.raises(gpu_simulator.BudgetExceeded, match="one more group of resident blocks"):
        cuda(source, np.zeros(4, np.int32), grid=200, block=1024, max_bytes=20 * MB)


def test_the_estimate_is_near_what_is_taken(monkeypatch):
    """What the launch takes at most, as NumPy tells it, is not far above the estimate, nor far below."""
    kernel, estimates = local(500), []
    choose = launching.blocks_at_once

    def seen(wanted, a_block, fixed, *rest):
        count = choose(wanted, a_block, fixed, *rest)
        estimates.append(sum(fixed.values()) + count * sum(a_block.values()))
        return count

    monkeypatch.setattr(launching, "blocks_at_once", seen)
    run(kernel, grid=4)
    tracemalloc.start()
    run(kernel, grid=40)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.7 * estimates[-1] < peak < 1.3 * estimates[-1]


def test_blocks_that_have_ended_are_forgotten(cuda):
    gc.collect()
    gc.disable()
    try:
        report = cuda(HEAD + "(int* p) { __shared__ int s[1024]; s[threadIdx.x] = p[threadIdx.x]; p[threadIdx.x] = s[0]; }",
                      np.zeros(1024, np.int32), grid=64, block=1024)  # fmt: skip
        assert not any(isinstance(x, launching.ResidentBlocks) and x.__dict__ for x in gc.get_objects())
        assert not any(site.cache for site in report._launch.sites)
    finally:
        gc.enable()


def test_patterns_of_random_addresses_do_not_pile_up(cuda, monkeypatch):
    monkeypatch.setattr(resident_blocks, "PATTERNS", 1000)
    source = HEAD + "(const int* at, int* p) { p[threadIdx.x] += at[at[blockIdx.x * 256 + threadIdx.x]]; }"
    at = np.random.default_rng(1).integers(0, 65536, 65536).astype(np.int32)
    report = cuda(source, at, np.zeros(256, np.int32), grid=256, block=256)
    assert sum(map(len, report._launch.patterns.known.values())) < 2000
    assert report.totals.sectors > 32 * 256 * 8 * 0.9


def test_the_limit_comes_from_the_environment(monkeypatch):
    kernel = local(10_000)
    monkeypatch.setenv(VARIABLE, "20")
    with pytest.raises(LaunchError, match="the 20.0 MB"):
        run(kernel, block=1024)
    monkeypatch.setenv(VARIABLE, "200")
    assert run(kernel, block=1024).shape == (1024,)
    monkeypatch.setenv(VARIABLE, "lots")
    with pytest.raises(LaunchError, match="whole number of megabytes"):
        run(kernel)


def test_the_former_name_of_the_limit_counts_where_the_new_one_is_not_set(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv(FORMER, "20")
    assert limit_bytes(None) == 20 * MB
    monkeypatch.setenv(VARIABLE, "30")
    assert limit_bytes(None) == 30 * MB
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv(FORMER, "lots")
    with pytest.raises(SimulatorError, match=f"{FORMER} is 'lots'"):
        limit_bytes(None)


@pytest.mark.parametrize("wrong", [0, -5, 1.5])
def test_a_limit_is_a_positive_number(wrong):
    with pytest.raises(LaunchError, match="positive whole number"):
        run(local(4), max_bytes=wrong)


def test_the_default_is_a_part_of_the_free_memory(monkeypatch):
    assert 0 < free_bytes() < 1 << 50
    for variable in (VARIABLE, FORMER):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(memory_limit, "free_bytes", lambda: 100 * MB)
    with pytest.raises(LaunchError, match="the 75.0 MB that it may take here"):
        run(local(100_000), block=1024)


def test_a_machine_without_memory_says_so(monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(launching, "SiteCounts", full)
    with pytest.raises(SimulatorError, match="ran out of memory"):
        run(local(4))


def test_sizes_in_words():
    assert [in_words(n) for n in (1, 5000, 3 * MB, 5 << 29)] == ["0 kB", "5 kB", "3.0 MB", "2.5 GB"]


def test_what_hazards_note_of_fences_ends_with_the_blocks():
    compiling.need_compiler()
    source = (
        HEAD
        + """(int* p) {
  int* own = p + blockIdx.x * blockDim.x + threadIdx.x;
  *own = 1;
  __threadfence();
  __syncwarp(threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u);
  *own += 1;
}"""
    )
    array = np.zeros(4096 * 64, np.int32)
    report = gpu_simulator.simulate(source, "kernel", 4096, 64, [array], observers=("hazards",), max_bytes=20 * MB)
    assert report.hazards == [] and (array == 2).all()
