"""What every test may use: small exact matrices, document N, and random exact problems from a printed seed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, settings

from exactattn.attention.spec import Head, Problem, identity


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


def matrix(rows):
    """Exact matrix from rows of ints, strings or fractions."""
    return tuple(tuple(Fraction(x) for x in row) for row in rows)


@pytest.fixture
def document_n():
    """The three tokens of document N: X = [[1,0],[0,1],[1,1]], identity projections, scale 1/sqrt(2)."""
    eye = identity(2)
    return Problem((Head(eye, eye, eye),), matrix([[1, 0], [0, 1], [1, 1]]))
