"""The one text of attention, against an oracle written another way, and the algorithms against the definition."""

import random
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from samples import matrix

from exactattn import plugins
from exactattn.attention.algorithms import ALGORITHMS
from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage, identity
from exactattn.numbers.enclosure import Answer

DIGITS = 40


def oracle(X, heads, W_O=None, scale=None, causal=False, base=None):
    """Attention by scalar loops in mpmath: softmax through scores, no matrix operation, no shift."""
    with mpmath.workdps(DIGITS + 20):
        X, W_O = numbers(X), W_O and numbers(W_O)
        heads = [[numbers(w) for w in head] for head in heads]
        contexts = []
        for wq, wk, wv in heads:
            q, k, v = (product(X, w) for w in (wq, wk, wv))
            factor = 1 / mpmath.sqrt(len(k[0])) if scale is None else mpmath.mpf(scale.numerator) / scale.denominator
            rows = []
            for i, query in enumerate(q):
                keys = range(i + 1) if causal else range(len(k))
                power = [
                    (base or mpmath.e) ** (factor * sum(a * b for a, b in zip(query, k[j], strict=True))) for j in keys
                ]
                rows.append(
                    [
                        mpmath.fsum(p * v[j][c] for p, j in zip(power, keys, strict=True)) / mpmath.fsum(power)
                        for c in range(len(v[0]))
                    ]
                )
            contexts.append(rows)
        joined = [[x for context in contexts for x in context[i]] for i in range(len(X))]
        return joined if W_O is None else product(joined, W_O)


def product(a, b):
    return [
        [mpmath.fsum(mpmath.mpf(x) * y for x, y in zip(row, col, strict=True)) for col in zip(*b, strict=True)]
        for row in a
    ]


def numbers(m):
    return [[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in m]


def random_matrix(rng, rows, columns, top=5, denominator=1):
    return matrix(
        [[F(rng.randint(-top, top), rng.randint(1, denominator)) for _ in range(columns)] for _ in range(rows)]
    )


def inside(enclosure, value, slack=F(1, 10**DIGITS)):
    exact = F(int(value.man)) * F(2) ** int(value.exp) * (-1 if value < 0 and value.man > 0 else 1)
    return enclosure.lower - slack <= exact <= enclosure.upper + slack


def ball_output(problem, bits=200, stage=Stage.OUTPUT):
    engine = plugins.get("engines", "ball")
    with engine.precision(bits):
        return engine.enclosure(stages(problem, engine.arithmetic())[stage, 0])


@pytest.mark.parametrize("seed", range(12))
def test_the_definition_gives_what_loops_give(seed):
    rng = random.Random(seed)
    tokens, d_model, d_k, d_v, count = (
        rng.randint(1, 5),
        rng.randint(1, 4),
        rng.randint(1, 3),
        rng.randint(1, 3),
        rng.randint(1, 3),
    )
    X = random_matrix(rng, tokens, d_model, denominator=7)
    heads = [tuple(random_matrix(rng, d_model, d) for d in (d_k, d_k, d_v)) for _ in range(count)]
    W_O = random_matrix(rng, count * d_v, 3) if rng.random() < 0.5 else None
    scale = None if rng.random() < 0.5 else F(rng.randint(1, 9), rng.randint(1, 9))
    causal, base = rng.random() < 0.5, None if rng.random() < 0.6 else 2
    spec = AttentionSpec(scale, None if base is None else F(base), "top-left" if causal else "none")
    problem = Problem(tuple(Head(*h) for h in heads), X, W_O, spec)
    wanted = oracle(X, heads, W_O, scale, causal, base)
    output = ball_output(problem)
    assert output.shape == (tokens, len(wanted[0]))
    for index in output.indices():
        assert inside(output[index], wanted[index[0]][index[1]])
        assert output[index].radius < F(1, 10**45)


def test_document_n_has_the_values_computed_elsewhere(document_n):
    # Source: the list of claims of document N, computed with mpmath from the closed forms (t = e^(1/sqrt 2))
    weights, output = ball_output(document_n, stage=Stage.WEIGHTS), ball_output(document_n)
    assert weights[2, 0].decimal(20) == "0.24825507825772306969"
    assert weights[2, 2].decimal(20) == "0.50348984348455386061"
    assert weights[0, 1].decimal(17) == "0.19777581464042818"
    assert output[0, 0].decimal(17) == "0.80222418535957182"
    assert output[2, 1].decimal(17) == "0.75174492174227693"


def test_columns_are_rows_transposed():
    rng = random.Random(1)
    X, W = random_matrix(rng, 4, 3), [random_matrix(rng, 3, 2) for _ in range(3)]
    W_O = random_matrix(rng, 2, 3)
    flip = lambda m: tuple(zip(*m, strict=True))  # noqa: E731
    rows = Problem((Head(*W),), X, W_O, AttentionSpec(causal="top-left"))
    columns = Problem(
        (Head(*map(flip, W)),), flip(X), flip(W_O), AttentionSpec(causal="top-left", orientation="columns")
    )
    a, b = ball_output(rows), ball_output(columns)
    for index in a.indices():
        assert a[index].decimal(30) == b[index].decimal(30)


def test_given_elements_replace_computed_ones_downstream_only(document_n):
    rational = plugins.get("engines", "rational")
    given = {(Stage.WEIGHTS, 0): {(2, 0): F(3, 10), (2, 1): F(3, 10), (2, 2): F(4, 10)}}
    engine = plugins.get("engines", "ball")
    with engine.precision(128):
        out = engine.enclosure(stages(document_n, engine.arithmetic(), given)[Stage.OUTPUT, 0])
    assert out[2, 0].within(F(7, 10), F(1, 10**30)) is Answer.YES
    assert out[0, 0].decimal(10) == "0.8022241854"
    assert rational.arithmetic().name == "rational"


def masks():
    full = np.ones((3, 4), bool)
    causal = np.tril(full)
    ragged = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1]], bool)
    return {"full": full, "causal": causal, "ragged, one row empty": ragged}


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("mask", masks())
def test_every_algorithm_has_the_same_real_value(name, mask):
    rng = random.Random(7)
    q, k, v = random_matrix(rng, 3, 2, 9, 5), random_matrix(rng, 4, 2, 9, 5), random_matrix(rng, 4, 2)
    allowed = tuple(tuple(map(bool, row)) for row in masks()[mask])
    problem = Problem((Head(q=q, k=k, v=v),), mask=allowed)
    engine = plugins.get("engines", "ball")
    with engine.precision(200):
        plain = stages(problem, engine.arithmetic())
        other = stages(problem, engine.arithmetic(), algorithm=ALGORITHMS[name])
        for stage in (Stage.CONTEXT, Stage.LSE):
            a, b = (engine.enclosure(out[stage, 0]) for out in (plain, other))
            for index in a.indices():
                assert a[index].meets(b[index])
                assert b[index].radius < F(1, 10**40)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("fmt", ["float64", "float32", "float16"])
def test_every_algorithm_runs_in_floats(name, fmt):
    from exactattn.numbers.formats import FORMATS

    rng = random.Random(3)
    X = random_matrix(rng, 5, 3, 2)
    problem = Problem((Head(*(identity(3),) * 3),), X, spec=AttentionSpec(causal="top-left"))
    arithmetic = plugins.get("engines", "hardware").arithmetic(FORMATS[fmt])
    out = stages(problem, arithmetic, algorithm=ALGORITHMS[name])[Stage.OUTPUT, 0]
    assert out.dtype == np.dtype(fmt)
    mid, rad = ball_output(problem).error_of(out)
    # scores up to 12 here: the relative error of a weight is at most about (2*12 + S + 6) u, so 60 u is generous
    assert (np.abs(mid) + rad).max() < 2 * 60 * float(FORMATS[fmt].unit_roundoff)


def test_a_shift_of_an_unseen_row_does_not_poison_online_softmax():
    """Keys of the first tile all masked, then very negative scores: the carried 0 must not become the shift."""
    problem = Problem(
        (Head(scores=matrix([[0, 0, -500, -501]]), v=matrix([[1], [1], [2], [3]])),),
        spec=AttentionSpec(scale=F(1)),
        mask=((False, False, True, True),),
    )
    from exactattn.numbers.formats import FORMATS

    arithmetic = plugins.get("engines", "hardware").arithmetic(FORMATS["float32"])
    out = stages(problem, arithmetic, algorithm=ALGORITHMS["online"])[Stage.OUTPUT, 0]
    # closed form: (2 e + 3) / (e + 1)
    assert abs(float(out[0, 0]) - float((2 * mpmath.e + 3) / (mpmath.e + 1))) < 1e-6


def test_online_softmax_carries_the_largest_score_on():
    """A tile of small scores after a large one: shifting by the tile's own maximum would rescale by e^200 = inf."""
    from exactattn.numbers.formats import FORMATS

    scores = matrix([[100, 99, -100, -101]])
    problem = Problem((Head(scores=scores, v=matrix([[1], [2], [3], [4]])),), spec=AttentionSpec(scale=F(1)))
    arithmetic = plugins.get("engines", "hardware").arithmetic(FORMATS["float32"])
    out = stages(problem, arithmetic, algorithm=ALGORITHMS["online"])[Stage.OUTPUT, 0]
    # closed form, as e^-200 is far below float32: (e + 2) / (e + 1)
    assert abs(float(out[0, 0]) - float((mpmath.e + 2) / (mpmath.e + 1))) < 1e-6
