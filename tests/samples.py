"""Problems and benches for tests: exact matrices, scores given directly, document N, several heads."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from fractions import Fraction

from exactattn.attention.spec import AttentionSpec, Head, Problem, identity
from exactattn.bench import Bench
from exactattn.numbers.exact import Expr
from exactattn.numbers.formats import FORMATS

ALGORITHMS = ("naive", "shifted", "online")


def exact(x):
    """A case's number: a closed expression as it is, else a fraction."""
    return x if isinstance(x, Expr) else Fraction(x)


def matrix(rows):
    """Exact numbers, row by row."""
    return tuple(tuple(exact(x) for x in row) for row in rows)


def scores(*rows, mask=None, **spec):
    """Scores as they are, scale 1, values 0, 1, 2, ... beside a column of ones."""
    values = matrix([[j, 1] for j in range(len(rows[0]))])
    spec = AttentionSpec(**{"scale": Fraction(1)} | spec)
    return Problem((Head(scores=matrix(rows), v=values),), spec=spec, mask=mask)


def document_n(factor=1):
    """Document N with X multiplied by a factor."""
    eye = identity(2)
    return Problem((Head(eye, eye, eye),), matrix([[factor, 0], [0, factor], [factor, factor]]))


def two_heads(first, second):
    """Two heads of scores."""
    values = matrix([[j] for j in range(len(first[0]))])
    heads = (Head(scores=matrix(first), v=values), Head(scores=matrix(second), v=values))
    return Problem(heads, spec=AttentionSpec(scale=Fraction(1)), several_heads=True)


def bench(problem, *formats, algorithms=ALGORITHMS, **options):
    """A bench with formats by name."""
    return Bench(
        the_problem=problem, formats=tuple(FORMATS[name] for name in formats), algorithms=algorithms, **options
    )


def by_id(check, a_bench):
    """What a check finds, by id; every code is declared and every evidence is JSON."""
    import json

    found = list(check.run(a_bench))
    for finding in found:
        assert finding.code in check.CODES
        json.dumps(finding.as_json(), allow_nan=False)
    return {finding.id: finding for finding in found}


@contextmanager
def no_hang(seconds=300):
    """Ends what runs without end. No measure of speed: the limit is a hundred times what is ever needed."""

    def stop(_signal, _frame):
        raise TimeoutError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
