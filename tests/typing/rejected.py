"""Wrong uses of the public interfaces. A type checker must reject each line that ends in `# wrong`, and no other."""

import gemm_lab as lab
import gpu_simulator
from gpu_simulator.compiler import compile


def a_learners_session() -> None:
    """Mistakes in a notebook cell."""
    lab.kernel(3)  # wrong
    lab.kernel("t4/03", BLOCK_K="64")  # wrong
    lab.kernel("t4/03").run(n="512")  # wrong
    lab.kernel("t4/03").run(n=512).hot_line()  # wrong
    count: int = lab.kernel("t4/03").run(n=512).verdict  # wrong
    lab.ladder("t4").bench([2048]).ratio("t4/03", 4096)  # wrong
    print(count)


def the_simulator_alone(source: str) -> None:
    """Mistakes in a script."""
    compile(source)  # wrong
    compile(source, arch=90)  # wrong
    gpu_simulator.launch(source, grid="2")  # wrong
    gpu_simulator.launch(3)  # wrong
    gpu_simulator.launch(source).inspect(12, block="0")  # wrong
    print(gpu_simulator.launch(source).totals.wavefront)  # wrong
