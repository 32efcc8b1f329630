"""Chromium for the walk through the site: the same as for the other browser tests, and the same reason to skip."""

from tests.browser.conftest import browser_type_launch_args, pytest_collection_modifyitems  # noqa: F401
