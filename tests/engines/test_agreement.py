"""The engines agree: on random exact problems and on adversarial ones; and each keeps the engines' contract."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from samples import matrix

from exactattn import plugins
from exactattn.attention.algorithms import ALGORITHMS
from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.errors import Unavailable
from exactattn.numbers.balls import TooCoarse
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS
from exactattn.truth.elements import Element
from exactattn.truth.ladder import Truth

DIGITS = 50


def adversarial():
    """Problems that are hard: ties, huge scores, keys that nearly coincide, cancellation in the values."""
    one = F(1)
    spec = AttentionSpec(scale=one)
    near = F(1, 10**25)
    return {
        "ties": Problem((Head(scores=matrix([[2, 2, 2], [0, 2, 2]]), v=matrix([[1], [2], [4]])),), spec=spec),
        "scores of 1e6": Problem(
            (Head(scores=matrix([[10**6, 10**6 - 1, 0], [-(10**6), 0, 10**6]]), v=matrix([[1], [2], [3]])),), spec=spec
        ),
        "near-duplicate keys": Problem(
            (Head(q=matrix([[10**9, 10**9 + 1]]), k=((one, one), (one, one + near)), v=matrix([[0], [1]])),)
        ),
        "cancellation in the values": Problem(
            (Head(scores=matrix([[0, 0, 1]]), v=matrix([[10**30], [1 - 10**30], [0]])),), spec=spec
        ),
        "irrational inputs": Problem(
            (Head(scores=matrix([[1, 2]]), v=matrix([[1], [3]])),), spec=AttentionSpec(base=F(10), scale=F(1, 3))
        ),
        "one key": Problem((Head(scores=matrix([[7]]), v=matrix([[5]])),), spec=spec),
    }


def random_problem(seed):
    rng = random.Random(seed)
    L, S, d, d_v = (rng.randint(1, 4) for _ in range(4))
    draw = lambda n, m: matrix([[F(rng.randint(-6, 6), rng.choice([1, 1, 2, 5])) for _ in range(m)] for _ in range(n)])  # noqa: E731
    causal = rng.choice(["none", "none", "top-left"])
    mask = None
    if causal == "none" and rng.random() < 0.4:
        mask = tuple(tuple(rng.random() < 0.7 for _ in range(S)) for _ in range(L))
    head = Head(q=draw(L, d), k=draw(S, d), v=draw(S, d_v))
    return Problem((head,), spec=AttentionSpec(causal=causal), mask=mask)


PROBLEMS = {**{f"random seed {seed}": random_problem(seed) for seed in range(25)}, **adversarial()}


@pytest.mark.parametrize("name", PROBLEMS)
def test_symbolic_multiprecision_and_ball_agree(name):
    problem = PROBLEMS[name]
    ball, multi, symbolic = (plugins.get("engines", n) for n in ("ball", "multiprecision", "symbolic"))
    algebra = symbolic.arithmetic()
    with ball.precision(400):
        proven = stages(problem, ball.arithmetic())
        boxes = {where: ball.enclosure(array) for where, array in proven.items()}
    numeric = stages(problem, multi.arithmetic(DIGITS + 60))
    closed = stages(problem, algebra)
    for where, box in boxes.items():
        values = multi.values(numeric[where])
        for index in box.indices():
            element = box[index]
            size = max(abs(element.lower), abs(element.upper), F(1))
            slack = size / F(10) ** DIGITS
            assert element.radius <= slack, (where, index)
            assert element.lower - slack <= values[index] <= element.upper + slack, (where, index)
            form = algebra.closed(closed[where][index])
            # SymPy evaluates the closed form by its own route; as a rational it is exact
            number = (
                F(str(form.evalf(DIGITS + 60, maxn=10**4))) if not form.is_Rational else F(int(form.p), int(form.q))
            )
            assert element.lower - slack <= number <= element.upper + slack, (where, index, form)


@pytest.mark.parametrize("name", PROBLEMS)
def test_rationals_equal_the_balls_as_far_as_they_go(name):
    problem = PROBLEMS[name]
    rational, ball = (plugins.get("engines", n) for n in ("rational", "ball"))
    exact = stages(problem, rational.arithmetic(), until=Stage.SCORES)
    with ball.precision(128):
        proven = {
            where: ball.enclosure(a) for where, a in stages(problem, ball.arithmetic(), until=Stage.SCORES).items()
        }
    for where, box in proven.items():
        assert all(box[index].contains(exact[where][index]) for index in box.indices())


def test_rationals_refuse_an_exponential():
    problem = PROBLEMS["ties"]
    rational = plugins.get("engines", "rational")
    assert stages(
        Problem((Head(scores=matrix([[3, 3]]), v=matrix([[1], [2]])),), spec=problem.spec),
        rational.arithmetic(),
        until=Stage.SCORES,
    )
    with pytest.raises(Unavailable, match="not rational"):
        stages(PROBLEMS["scores of 1e6"], rational.arithmetic())


def contract_arithmetics():
    for name, engine in plugins.found("engines").items():
        if name == "hardware":
            yield from ((f"hardware/{fmt}", engine.arithmetic(FORMATS[fmt])) for fmt in engine.formats)
        else:
            yield name, engine.arithmetic()


@pytest.mark.parametrize("name", dict(contract_arithmetics()))
def test_every_engine_keeps_the_contract_of_an_arithmetic(name):
    """Each says what it guarantees, and computes a problem that every number system holds exactly."""
    engine = plugins.get("engines", name.split("/")[0])
    assert engine.guarantee
    arithmetic = dict(contract_arithmetics())[name]
    head = Head(q=matrix([[2, 1], [0, 0]]), k=matrix([[1, -1], [3, 4]]), v=matrix([[8], [4]]))
    problem = Problem((head,), spec=AttentionSpec(scale=F(1), causal="top-left"))
    out = stages(problem, arithmetic, until=Stage.SCORES)
    scores = [[float(str(x.mid())) if hasattr(x, "mid") else float(x) for x in row] for row in out[Stage.SCORES, 0]]
    assert scores == [[1, 10], [0, 0]]
    zero = Problem((Head(scores=matrix([[0, 0]]), v=matrix([[8], [4]])),), spec=AttentionSpec(scale=F(1)))
    if name == "rational":
        return  # the lse is ln 2
    context = stages(zero, arithmetic)[Stage.CONTEXT, 0][0, 0]
    assert float(str(context.mid())) == 6 if hasattr(context, "mid") else float(context) == 6


def test_a_format_that_numpy_lacks_is_unavailable():
    with pytest.raises(Unavailable, match="bfloat16"):
        plugins.get("engines", "hardware").arithmetic(FORMATS["bfloat16"])


def test_powers_that_would_fill_the_memory_are_refused():
    # base 10 and a score of 10^9: the weight is 10^(-10^9) beside 1
    problem = Problem((Head(scores=matrix([[10**9, 0]]), v=matrix([[1], [0]])),), spec=AttentionSpec(F(1), F(10)))
    with pytest.raises(Unavailable, match="bits"):
        stages(problem, plugins.get("engines", "symbolic").arithmetic())
    weight = Element(Stage.WEIGHTS, (0, 1))
    assert Truth(problem).equals(weight, F(0)) is not Answer.YES
    assert Truth(problem).closed_form(weight) is None


def test_floats_inside_a_number_system_give_no_warning(recwarn):
    # SymPy estimates sizes in floats, which overflow silently there; NumPy must not report that as ours
    class Estimating(F):
        def __mul__(self, other):
            _ = 1e308 * float(other) * 10
            return F(self) * F(other)

    one = [[Estimating(1)]]
    arithmetic = plugins.get("engines", "rational").arithmetic()
    assert arithmetic.matmul(np.array(one, object), np.array(one, object))[0, 0] == 1
    assert not recwarn.list


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e2000000", "1e-2000000"])
def test_multiprecision_gives_no_number_for_what_is_none_or_too_long(text):
    import mpmath

    with pytest.raises(TooCoarse):
        plugins.get("engines", "multiprecision").values(np.array([[mpmath.mpf(text)]], object))


def test_multiprecision_keeps_signs():
    import mpmath

    numbers = np.array([[mpmath.mpf(x) for x in ("-0.75", "0", "3", str(-(2**100)), "1e-40")]], object)
    found = plugins.get("engines", "multiprecision").values(numbers)[0]
    assert list(found[:4]) == [F(-3, 4), 0, 3, -(2**100)]
    assert abs(found[4] - F(1, 10**40)) < F(1, 10**50)


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_online_keeps_the_largest_logit_it_has_seen(name):
    # the second tile is 1000 lower: rescaling by e^(+1000) would overflow, by e^(-1000) it vanishes
    head = Head(scores=matrix([[1000, 999, 0, -1]]), v=matrix([[1], [2], [3], [4]]))
    problem = Problem((head,), spec=AttentionSpec(F(1)))
    arithmetic = plugins.get("engines", "hardware").arithmetic(FORMATS[name])
    out = stages(problem, arithmetic, algorithm=ALGORITHMS["online"])
    assert abs(float(out[Stage.CONTEXT, 0][0, 0]) - (1 + 1 / (1 + np.e))) < 1e-6
