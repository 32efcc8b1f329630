"""The settings of the project's tests hold here, too."""

from tests.conftest import pytest_collection_modifyitems, state_of_the_tests  # noqa: F401
