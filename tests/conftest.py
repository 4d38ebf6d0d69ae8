"""What every test may use: small exact matrices, document N, and random exact problems from a printed seed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, settings

from exactattn.attention.spec import Head, Problem, identity

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
