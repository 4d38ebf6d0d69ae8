"""What every test may use: the options of the run, and document N."""

from __future__ import annotations

import pytest
import samples
from hypothesis import HealthCheck, settings


def pytest_addoption(parser):
    group = parser.getgroup("exactattn")
    group.addoption("--no-skips", action="store_true", help="a skipped test is a failed run: everything is installed")
    group.addoption("--rewrite-goldens", action="store_true", help="write the golden files anew instead of comparing")


def pytest_sessionfinish(session, exitstatus):
    """With --no-skips a run that skipped anything has failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--no-skips") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


settings.register_profile("project", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")


@pytest.fixture(name="document_n")
def the_document_n():
    """The three tokens of document N: X = [[1,0],[0,1],[1,1]], identity projections, scale 1/sqrt(2)."""
    return samples.document_n()
