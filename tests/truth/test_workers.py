"""Worker processes: the same results in the same order, and a said reason when one is gone."""

from __future__ import annotations

import math
import os

import pytest

from exactattn.errors import ProblemError, Unavailable
from exactattn.truth.workers import MOST_WORKERS, Workers


@pytest.mark.parametrize("count", [1, 2])
def test_results_come_in_the_order_of_the_pieces(count):
    with Workers(count) as workers:
        assert workers.map(math.factorial, range(50)) == [math.factorial(n) for n in range(50)]
        assert workers.map(math.factorial, []) == []


def test_pieces_run_in_other_processes():
    with Workers(2) as workers:
        assert os.getpid() not in workers.map(eval, ["__import__('os').getpid()"] * 4)


def test_an_error_of_a_piece_is_the_callers():
    with Workers(2) as workers, pytest.raises(ValueError):
        workers.map(math.sqrt, [1, -1])


def test_a_worker_that_is_gone_is_said():
    with Workers(2) as workers, pytest.raises(Unavailable, match="memory"):
        workers.map(os._exit, [3])


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "2", None, MOST_WORKERS + 1])
def test_counts_that_make_no_sense(count):
    with pytest.raises(ProblemError, match="whole number from 1"):
        Workers(count)
