"""Workflows, templates and the citation follow their schemas, and the workflows' linter finds nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = {
    "vendor.github-workflows": [
        ".github/workflows/tests.yml",
        ".github/workflows/nightly.yml",
        ".github/workflows/release.yml",
        ".github/workflows/site.yml",
    ],
    "vendor.github-issue-forms": [".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/lesson.yml"],
    "vendor.github-issue-config": [".github/ISSUE_TEMPLATE/config.yml"],
    "vendor.dependabot": [".github/dependabot.yml"],
    "vendor.citation-file-format": ["CITATION.cff"],
}


def printed(tool, *arguments):
    found = shutil.which(tool, path=Path(sys.executable).parent)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    done = subprocess.run([found, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_follow_their_schemas(schema):
    code, said = printed("check-jsonschema", "--builtin-schema", schema, *SCHEMAS[schema])
    assert code == 0, said


def test_no_workflow_is_forgotten():
    assert sorted(SCHEMAS["vendor.github-workflows"]) == sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / ".github/workflows").iterdir()
    )


def test_the_workflows_are_safe():
    code, said = printed("zizmor", "--offline", "--no-progress", ".github")
    assert code == 0, said
