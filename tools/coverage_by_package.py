"""Prints how much of each package the last `make coverage` executed, and fails below the floor of pyproject.toml."""

from __future__ import annotations

import sys

from coverage import Coverage
from coverage.exceptions import NoDataError


def main() -> int:
    """One line a package, lines and branches together in percent; 1 below `fail_under`, 2 if nothing was measured."""
    coverage = Coverage()
    coverage.load()
    floor = coverage.get_option("report:fail_under")
    try:
        for package in sorted(coverage.get_option("run:source_pkgs")):
            share = coverage.report(include=[f"*/{package}/*"], file=_Nowhere())
            print(f"{package:14} {share:5.1f} %")
        share = coverage.report(file=_Nowhere())
    except NoDataError as error:
        print(f"{error} Type `make coverage` to run the tests.", file=sys.stderr)
        return 2
    print(f"{'together':14} {share:5.1f} %, of which the floor is {floor:g} %")
    return int(share < floor)


class _Nowhere:
    """The report in columns, which names every file, is not wanted here."""

    def write(self, text: str) -> None:
        """Forget the text."""


if __name__ == "__main__":
    sys.exit(main())
