"""The ladder: balls refute, exact algebra proves, and "cannot tell" comes at a stated limit."""

from fractions import Fraction as F

from samples import matrix

from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.numerals import parse_exact
from exactattn.truth.elements import Element
from exactattn.truth.ladder import Truth


def weights(i, j):
    return Element(Stage.WEIGHTS, (i, j))


def test_closed_forms_and_ties_of_document_n(document_n):
    truth = Truth(document_n)
    assert parse_exact(truth.closed_form(weights(2, 0))) is not None
    assert truth.equals(weights(2, 0), parse_exact("1/(2 + exp(1/sqrt(2)))")) is Answer.YES
    assert truth.equals(weights(2, 0), parse_exact("1/(2 + exp(1/sqrt(2))) + 10**(-60)")) is Answer.NO
    assert truth.compare(weights(2, 0), weights(2, 1)) == (Answer.NO, Answer.YES)
    assert truth.compare(weights(2, 0), weights(2, 2)) == (Answer.YES, Answer.NO)
    assert truth.compare(weights(0, 0), weights(2, 2)) == (Answer.YES, Answer.NO)


def test_a_difference_far_below_the_first_precision_is_still_seen():
    # two scores 10^-200 apart: more bits are taken until the balls separate
    tiny = F(1, 10**200)
    problem = Problem((Head(scores=((F(1), F(1) + tiny),), v=matrix([[1], [2]])),), spec=AttentionSpec(scale=F(1)))
    assert Truth(problem).compare(weights(0, 0), weights(0, 1)) == (Answer.YES, Answer.NO)


def test_cannot_tell_at_the_stated_limit():
    tiny = F(1, 10**200)
    problem = Problem((Head(scores=((F(1), F(1) + tiny),), v=matrix([[1], [2]])),), spec=AttentionSpec(scale=F(1)))
    short = Truth(problem, most_bits=256)
    assert short.compare(weights(0, 0), weights(0, 1)) == (Answer.CANNOT_TELL, Answer.CANNOT_TELL)
    assert short.ask(weights(0, 0), lambda t: t.equals(F(0)), F(1, 2)) is Answer.CANNOT_TELL


def test_masked_keys_weigh_exactly_nothing():
    problem = Problem(
        (Head(scores=matrix([[1, 2], [3, 4]]), v=matrix([[1], [2]])),), spec=AttentionSpec(F(1), causal="top-left")
    )
    truth = Truth(problem)
    assert truth.equals(weights(0, 1), F(0)) is Answer.YES
    assert truth.equals(weights(0, 0), F(1)) is Answer.YES
    assert truth.value(Element(Stage.MASKED, (0, 1))) is None


def test_one_visible_key_gives_exactly_one_whatever_the_scale():
    problem = Problem((Head(q=matrix([["1/3", 1]]), k=matrix([[1, "1/7"]]), v=matrix([[5]])),))
    assert Truth(problem).equals(weights(0, 0), F(1)) is Answer.YES


def test_what_follows_from_given_numbers_is_exact(document_n):
    given = {weights(2, 0): F(3, 10), weights(2, 1): F(3, 10), weights(2, 2): F(4, 10)}
    follows = Truth(document_n).following(given)
    assert follows.equals(Element(Stage.OUTPUT, (2, 0)), F(7, 10)) is Answer.YES
    assert follows.equals(Element(Stage.OUTPUT, (0, 0)), F(8, 10)) is Answer.NO


def test_columns_are_asked_about_as_they_are_shown():
    X = matrix([[1, 0, 1], [0, 1, 1]])  # columns are tokens of document N
    eye = matrix([[1, 0], [0, 1]])
    problem = Problem((Head(eye, eye, eye),), X, spec=AttentionSpec(orientation="columns"))
    truth = Truth(problem)
    # the weight of key 0 for query 2 stands in row 0, column 2
    assert truth.value(weights(0, 2)).decimal(17) == "0.24825507825772307"
    assert truth.shape(Stage.OUTPUT) == (2, 3)
