"""A progress bar for `make attack`; `make test` shows only pytest's own dots."""

import sys

import pytest
from attack_scale import FULL
from tqdm import tqdm

BAR = pytest.StashKey[tqdm]()


def _begin(config: pytest.Config, total: int) -> None:
    if BAR not in config.stash:
        config.stash[BAR] = tqdm(total=total, desc="attacks", unit=" tests", file=sys.stderr, dynamic_ncols=True)


def _on_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


if FULL:

    class Progress:
        """Counts finished tests, in a run of one process and in xdist's controller."""

        def __init__(self, config: pytest.Config) -> None:
            self.config, self.failed = config, 0

        def pytest_collection_finish(self, session: pytest.Session) -> None:
            if session.items and not _on_worker(self.config):
                _begin(self.config, len(session.items))

        @pytest.hookimpl(optionalhook=True)
        def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
            _begin(self.config, len(ids))

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            bar = self.config.stash.get(BAR, None)
            if bar is None:
                return
            if report.failed:
                self.failed += 1
                bar.set_postfix(failed=self.failed)
            if report.when == "teardown":
                bar.update()

        def pytest_unconfigure(self, config: pytest.Config) -> None:
            if (bar := config.stash.get(BAR, None)) is not None:
                bar.close()


def pytest_configure(config: pytest.Config) -> None:
    if FULL and not _on_worker(config):
        config.pluginmanager.register(Progress(config), "attack-progress")
