"""What the simulator runs and what is counted in the machine code is one binary."""

import pytest

from gemm_lab import compiling
from gemm_lab.notebook.exercises import exercises, kernel_of
from gemm_lab.notebook.judges import kernel_judge
from gemm_lab_classroom.judge.strict_rules import StrictRules
from gemm_lab_classroom.skeletons import solution
from gemm_lab_lessons.shared.criteria import code_criteria
from gpu_simulator import compiler
from gpu_simulator.errors import SimulatorError
from gpu_timing.machine_code.main_loop import product_loops

COUNTED = sorted(name for name, task in exercises().items() if "arch" in task.criteria)


@pytest.mark.sampled(every=12, first=2)
@pytest.mark.parametrize("name", COUNTED)
def test_every_run_was_of_the_code_that_is_counted(name, monkeypatch):
    counted, simulated = [], []
    real_code, real_check = code_criteria.judge_code, kernel_judge.Kernel.run

    def judge_code(compiled, rung, wanted):
        counted.append(compiled.cubin)
        return real_code(compiled, rung, wanted)

    def run(self, *arguments, **options):
        found = real_check(self, *arguments, **options)
        if options["backend"] == "simulator":  # with a GPU here, one more run is of code for that GPU
            simulated.append(found.compiled)
        return found

    monkeypatch.setattr(code_criteria, "judge_code", judge_code)
    monkeypatch.setattr(kernel_judge.Kernel, "run", run)
    task = exercises()[name]
    found = kernel_judge.judge(kernel_of(task, solution(name)), task.criteria, rules=StrictRules())
    assert found.reasons == []
    judged = [compiled for compiled in simulated if compiled.arch == task.criteria["arch"]]
    assert {compiled.cubin for compiled in judged} == set(counted)
    others = {compiled.arch for compiled in simulated} - {task.criteria["arch"]}
    assert others < set(found.runs[0][1].kernel.spec.targets), "once more as compiled for other GPUs"
    assert len(counted) == len(task.criteria.get("configs", [{}]))


def test_functions_that_call_each_other_without_end_are_a_sentence():
    head = "__device__ __noinline__ float f0(float x, float* d) { return x * d[threadIdx.x]; }\n"
    for number in range(1, 24):
        head += (
            f"__device__ __noinline__ float f{number}(float x, float* d) {{ return f{number - 1}(x, d) + "
            f"f{number - 1}(x + 1, d); }}\n"
        )
    source = (
        head + 'extern "C" __global__ void gemm(float* d, int n) { for (int i = 0; i < n; i++) d[i] = f23(d[i], d); }'
    )
    lines = compiler.disassemble(compiling.compile(source, arch="sm_80"))
    with pytest.raises(SimulatorError, match="call each other so often"):
        product_loops(lines)
