"""How many lines the project has: `make sizes` prints them package by package and part by part.

A line is a line of a file, blank ones and comments too. README.md has the sums, rounded to 500 so that not every commit
changes them.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "gemm_lab",
    "gemm_lab_lessons",
    "gemm_lab_classroom",
    "gemm_results",
    "gpu_timing",
    "gpu_runner",
    "gpu_simulator",
    "llvm_ir_to_ptx",
    "gemm_look",
    "tools",
)
ANSWERS = {"solutions", "wrong_answers"}  # what learners write, and no part of a package
ROUNDED_TO = 500


def home(package: str) -> Path:
    """The folder of a package: gemm_lab and tools lie at the top, the others in packages/."""
    return next(folder for folder in (ROOT / package, ROOT / "packages" / package) if list(folder.glob("*.py")))


def lines() -> Counter[tuple[str, str, str]]:
    """{(package, part, kind): lines}; kind: "Python", "JavaScript" or "tests". tests/ counts as a package of tests."""
    found: Counter[tuple[str, str, str]] = Counter()
    for package in (*PACKAGES, "tests"):
        folder = ROOT / package if package == "tests" else home(package)
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            if path.suffix not in (".py", ".js", ".cu") or {*parts} & {"__pycache__", "build", "dist"}:
                continue
            tests = package == "tests" or "tests" in parts or path.name == "conftest.py"
            if ANSWERS & {*parts} or (path.suffix == ".cu" and not tests):
                continue
            kind = "tests" if tests else "Python" if path.suffix == ".py" else "JavaScript"
            part = parts[0].removesuffix(".py") if len(parts) > 1 or package != "tests" else "at the top"
            found[package, part, kind] += path.read_text(encoding="utf-8").count("\n")
    return found


def of(package: str, *kinds: str) -> int:
    """The lines of a package, of these kinds."""
    return sum(count for (where, _, kind), count in lines().items() if where == package and kind in kinds)


def rounded(count: int) -> str:
    """Such as "12,500"."""
    return f"{round(count / ROUNDED_TO) * ROUNDED_TO:,}"


def main() -> None:
    """Print the table."""
    found = lines()
    for package in (*PACKAGES, "tests"):
        rows = sorted((part, kind, count) for (where, part, kind), count in found.items() if where == package)
        sums = Counter()
        for _, kind, count in rows:
            sums[kind] += count
        print(f"{package:28}" + "   ".join(f"{count:>7,} {kind}" for kind, count in sums.items()))
        for part, kind, count in rows:
            print(f"    {part:24}{count:>7,} {kind}")
    code = sum(count for (_, _, kind), count in found.items() if kind != "tests")
    print(f"{'all packages':28}{code:>7,}\n{'all tests':28}{sum(found.values()) - code:>7,}")


if __name__ == "__main__":
    main()
