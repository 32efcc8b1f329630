"""Prints the coverage of each package in the last `make coverage`; fails below the `fail_under` of pyproject.toml."""

from __future__ import annotations

import io
import sys

from coverage import Coverage
from coverage.exceptions import NoDataError

from tools.sizes import home


def share_of(coverage: Coverage, folders: list[str]) -> float:
    """Percent of the lines and branches of folders of this checkout that were executed; 0.0 if none was.

    Tests also import copies of the packages, which they make in folders of their own; those are not counted.
    """
    try:
        return coverage.report(include=[f"{folder}/*" for folder in folders], file=io.StringIO())
    except NoDataError:
        return 0.0


def main() -> int:
    """Print one line per package. Returns 1 if all together are below `fail_under`, 2 if nothing was measured."""
    coverage = Coverage()
    coverage.load()
    if not coverage.get_data().measured_files():
        print("No test was measured; type `make coverage`.", file=sys.stderr)
        return 2
    packages = sorted(coverage.get_option("run:source_pkgs"))
    for package in packages:
        print(f"{package:18} {share_of(coverage, [str(home(package))]):5.1f} %")
    share, floor = (
        share_of(coverage, [str(home(package)) for package in packages]),
        coverage.get_option("report:fail_under"),
    )
    print(f"{'together':18} {share:5.1f} %; the floor is {floor:g} %")
    return int(share < floor)


if __name__ == "__main__":
    sys.exit(main())
