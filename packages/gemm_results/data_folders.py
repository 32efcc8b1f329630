"""Where the data lie that come with the packages: kernels, pictures, results, notebooks and documents."""

from __future__ import annotations

from pathlib import Path

from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError

DATA_FOLDERS = ("kernels", "images", "results", "notebooks", "docs")
# Of docs, those that notebooks link to; a wheel has no others.
DOCUMENTS = ("GLOSSARY.md", "REFERENCES.md", "ERRATA.md")

PACKAGE = Path(__file__).resolve().parent


def data_dir(name: str) -> Path:
    """The folder of shipped data called `name`: kernels, images, results, notebooks or docs.

    An installed package has them in `gemm_lab/data`, a checkout beside `packages`. A folder there counts only if
    there is a pyproject.toml or .git too, because near an installed package it can be somebody else's. Raises
    `ConfigError` for another name and `LabError` if the folder is in neither place.
    """
    if name not in DATA_FOLDERS:
        raise ConfigError(f"There is no data folder {name!r}; choose one of {', '.join(DATA_FOLDERS)}.")
    root = PACKAGE.parents[1]
    installed, checkout = PACKAGE.parent / "gemm_lab" / "data" / name, root / name
    if installed.exists():
        return installed
    if checkout.exists() and ((root / "pyproject.toml").is_file() or (root / ".git").exists()):
        return checkout
    raise LabError(
        f"The folder {name!r} is missing: it is neither in the installed package nor in a checkout around it. "
        "Install gemm_lab again, or work in a full checkout of the repository."
    )
