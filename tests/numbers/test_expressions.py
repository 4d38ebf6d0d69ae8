"""The language of claims: trees, their places, and their values."""

from __future__ import annotations

import operator
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.errors import NumeralError
from exactattn.numbers import exact
from exactattn.numbers.expressions import (
    Binary,
    Call,
    Chain,
    ListNode,
    Name,
    Node,
    Number,
    Reference,
    Slice,
    Unary,
    parse_expression,
    parse_statement,
)
from exactattn.numbers.folding import evaluate_array, fold

WEIGHTS = ((Fraction(2, 5), Fraction(1, 5), Fraction(2, 5)), (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)))


def lookup(label, indices):
    """A matrix by the name of weights, as a consumer would offer it."""
    if label != "weights":
        raise KeyError(label)
    if len(indices) > 2:
        raise NumeralError("weights has two axes")
    row, column = (*indices, Slice.ALL, Slice.ALL)[:2]
    rows = WEIGHTS if row is Slice.ALL else (WEIGHTS[row],)
    picked = tuple(line if column is Slice.ALL else line[column] for line in rows)
    return picked if row is Slice.ALL else picked[0]


def value(text, names=None, calls=None):
    return evaluate_array(parse_expression(text), names or {}, lookup, calls or {})


def sketch(node: Node) -> str:
    """A tree with all its brackets, each node with its place."""
    match node:
        case Number():
            return f"{node.numeral.text}@{node.offset}"
        case Name():
            return f"{node.label}@{node.offset}"
        case Reference():
            indices = ",".join(":" if i is Slice.ALL else str(i) for i in node.indices)
            return f"{node.label}[{indices}]@{node.offset}"
        case Call():
            return f"{node.function}({' '.join(map(sketch, node.args))})@{node.offset}"
        case Unary():
            return f"({node.op}{sketch(node.operand)})@{node.offset}"
        case Binary():
            return f"({sketch(node.left)} {node.op} {sketch(node.right)})@{node.offset}"
        case ListNode():
            return f"[{' '.join(map(sketch, node.items))}]@{node.offset}"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1+2*3", "(1@0 + (2@2 * 3@4)@3)@1"),
        ("1-2-3", "((1@0 - 2@2)@1 - 3@4)@3"),
        ("2**3^2", "(2@0 ** (3@3 ** 2@5)@4)@1"),
        ("-a**2", "(-(a@1 ** 2@4)@2)@0"),
        ("a**-2", "(a@0 ** (-2@4)@3)@1"),
        ("-a*b", "((-a@1)@0 * b@3)@2"),
        ("(1+2) × 3", "((1@1 + 2@3)@2 * 3@8)@6"),
        ("√2/2", "(sqrt(2@1)@0 / 2@3)@2"),
        ("T(Q) * [[1, 0],[0, 1]]", "(T(Q@2)@0 * [[1@9 0@12]@8 [0@16 1@19]@15]@7)@5"),
        ("sum(weights[2, :])", "sum(weights[2,:]@4)@0"),
        ("weights[0,2,0] + w [:,0]", "(weights[0,2,0]@0 + w[:,0]@17)@15"),
        ("max(1, b, 32 %)", "max(1@4 b@7 32 %@10)@0"),
    ],
)
def test_trees_and_places(text, tree):
    assert sketch(parse_expression(text)) == tree


@pytest.mark.parametrize(
    ("text", "operands", "relations"),
    [
        ("weights[2,2] > weights[2,0] = weights[2,1]", 3, (">", "=")),
        ("a/b = c = 32%", 3, ("=", "=")),
        ("a == b != c ≠ d ~ e ≈ f", 6, ("=", "!=", "!=", "~", "~")),
        ("1 <= 2 ≤ 3 < 4 >= 3 ≥ 2 > 1", 7, ("<=", "<=", "<", ">=", ">=", ">")),
    ],
)
def test_chains(text, operands, relations):
    chain = parse_statement(text)
    assert (len(chain.operands), chain.relations, chain.offset) == (operands, relations, 0)


def test_nodes_keep_what_was_printed():
    chain = parse_statement("x = 0.40 = 32 %")
    first, second = chain.operands[1:]
    assert isinstance(first, Number)
    assert isinstance(second, Number)
    assert (first.numeral.unit, first.numeral.digits) == (Fraction(1, 100), 2)
    assert (second.numeral.value, second.numeral.form) == (Fraction(8, 25), "percent")
    assert second.numeral.text == "32 %"


def test_trees_are_data_and_places_do_not_tell_them_apart():
    assert parse_expression("1 +  2") == parse_expression(" 1+2")
    assert pickle.loads(pickle.dumps(parse_statement("a[:] = 1"))) == Chain(
        (Reference("a", (Slice.ALL,), 0), parse_expression("1")), ("=",), 0
    )


def test_the_equation_of_document_n():
    """S18: the partial sums hold exactly."""
    text = "0.4*[1, 0] + 0.2*[0, 1] + 0.4*[1, 1] = [0.4, 0] + [0, 0.2] + [0.4, 0.4] = [0.8, 0.6]"
    values = [evaluate_array(operand, {}, lookup) for operand in parse_statement(text).operands]
    assert values == [(Fraction(4, 5), Fraction(3, 5))] * 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("weights[0, 1]", Fraction(1, 5)),
        ("weights[1]", WEIGHTS[1]),
        ("weights[:, 0]", (Fraction(2, 5), Fraction(1, 4))),
        ("weights", WEIGHTS),
        ("sum(weights[1, :])", Fraction(1)),
        ("sum(weights)", Fraction(2)),
        ("sum(3)", Fraction(3)),
        ("weights - weights", ((Fraction(0),) * 3,) * 2),
        ("-[1, 2]", (Fraction(-1), Fraction(-2))),
        ("+[1, 2]/4", (Fraction(1, 4), Fraction(1, 2))),
        ("[[1, 2], [3, 4]]*n", ((Fraction(3), Fraction(6)), (Fraction(9), Fraction(12)))),
        ("[sqrt(4), 2**3]", (Fraction(2), Fraction(8))),
        ("1/sqrt(2) * [0, 1]", (Fraction(0), exact.div(Fraction(1), exact.sqrt(Fraction(2))))),
    ],
)
def test_values_of_arrays(text, expected):
    assert value(text, {"n": Fraction(3)}) == expected


def test_a_long_sum_of_closed_forms_stays_a_low_tree():
    roots = tuple(exact.sqrt(Fraction(p)) for p in [2, 3, 5, 7] * 1000)
    total = evaluate_array(parse_expression("sum(x)"), {}, lambda label, indices: roots)
    assert exact.spell(total).count("sqrt") == 4000


def test_further_functions_come_from_the_consumer():
    calls = {"max": lambda *args: max(args), "T": lambda a: tuple(zip(*a, strict=True))}
    assert value("max(1, 3, 2)", calls=calls) == 3
    assert value("T([[1, 2]])", calls=calls) == ((Fraction(1),), (Fraction(2),))


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("1 + [1, 2] + [1, 2, 3]", 2, "found a scalar [+] 2 array, wanted equal shapes"),
        ("[1, 2] + [1, 2, 3]", 7, "found 2 array [+] 3 array"),
        ("[[1, 2], [3]]", 9, "ragged list: 1 array after 2 array"),
        ("[1, [3]]", 4, "ragged list: 1 array after a scalar"),
        ("2*([1, 2]*[1, 2])", 9, "one side of [*] must be one number, found 2 array"),
        ("1/[1, 2]", 1, "the right side of / must be one number"),
        ("[1, 2]**2", 6, "the left side of [*][*] must be one number"),
        ("3 + exp([1, 2])", 2, "found a scalar [+] 2 array"),
        ("[log([1, 0])]", 1, "the logarithm of 0 is not real"),
        ("[1, 2]/0", 6, "division by zero"),
        ("1 + wieghts[0]", 4, "unknown name 'wieghts'"),
        ("1 + weights[0,0,0]", 4, "weights has two axes"),
        ("1 + max(1, 2)", 4, "unknown function 'max'.*known: exp, ln, log, sqrt, sum"),
    ],
)
def test_shapes_and_names_are_checked_with_the_place(text, offset, message):
    with pytest.raises(NumeralError, match=message) as caught:
        value(text)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("1 + 1", 5, "a statement needs a relation"),
        ("a = = b", 4, "found '='"),
        ("a = ", 4, "the end of the text"),
        ("(a = b)", 3, r"found '=', wanted '\)'"),
        ("a[1.5] = 1", 2, "an index counted from 0"),
        ("a[-1] = 1", 2, "an index counted from 0"),
        ("a[1:2] = 1", 3, r"found ':', wanted '\]'.*weights\[2, :\]"),
        ("a[] = 1", 2, "an index counted from 0"),
        ("[] = 1", 1, r"found '\]'"),
        ("[1, ] = 1", 4, r"found '\]'"),
        ("f() = 1", 2, r"found '\)'"),
        ("(1)(2) = 2", 3, "write products with"),
        ("a = nan", 4, "finite number"),
        ("a = 1 0", 6, "put a comma between numbers, '[*]' between factors"),
    ],
)
def test_statements_that_are_none(text, offset, message):
    with pytest.raises(NumeralError, match=message) as caught:
        parse_statement(text)
    assert caught.value.offset == offset


RATIONALS = st.fractions(-9, 9, max_denominator=20)


@given(st.lists(st.tuples(st.sampled_from("+-*/"), RATIONALS), min_size=1, max_size=20))
def test_rational_arithmetic_agrees_with_fractions(steps):
    text, expected = "1", Fraction(1)
    for sign, x in steps:
        if sign == "/" and x == 0:
            continue
        text = f"({text}) {sign} ({x})"
        expected = getattr(operator, {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}[sign])(expected, x)
    assert fold(parse_expression(text)) == expected


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8), RATIONALS)
def test_arrays_agree_with_lists(items, factor):
    text = f"({factor})*{items} - {items}"
    assert value(text) == tuple(factor * i - i for i in items)


def test_a_sum_of_128_terms_is_read_and_spelled():
    text = " + ".join(f"sqrt({n * n + 1})" for n in range(1, 128))
    assert exact.spell(fold(parse_expression(text))).count("sqrt") == 127
