"""Cases of inputs and formulas: what is read, and what is wrong with it at which place."""

from fractions import Fraction as F

import pytest
from samples import no_hang

from exactattn.documents.case import loads
from exactattn.errors import CaseError

HEAD = "version: 1\nproblem:\n"


def mistakes(text):
    """Every mistake of a case as (line, column, message with its hint)."""
    with pytest.raises(CaseError) as caught:
        loads(text)
    return [(m.line, m.column, f"{m.message} ({m.hint})") for m in caught.value.mistakes]


def sheet(text):
    return loads(HEAD + text).sheets[""]


def test_inputs_keep_their_exact_values():
    text = "  inputs: {a: 1/3, b: [0.10, 2e-3], c: [[1, 0], [0, sqrt(2)]], d: {times: 1/2, values: [1, 2]}}"
    inputs = sheet(text).inputs
    assert inputs["a"] == F(1, 3)
    assert inputs["b"] == (F(1, 10), F(1, 500))
    assert str(inputs["c"][1][1]) == "sqrt(2)"
    assert inputs["d"] == (F(1, 2), F(1))


def test_rounded_inputs_are_intervals_of_half_a_unit():
    made = sheet("  inputs: {x: {values: [0.50, -3], rounded: true}}")
    assert [str(x) for x in made.inputs["x"]] == ["x[0]", "x[1]"]
    assert made.boxes["x[0]"].lower == F(495, 1000)
    assert made.boxes["x[1]"].upper == F(-5, 2)


def test_pasted_inputs():
    text = """  inputs:
    x: |
      [[ 0.5   1.25]
       [-1.    3.  ]]
    y: '\\frac{1}{\\sqrt{2}} \\begin{pmatrix} 1 & 0 \\\\ 0 & 2 \\end{pmatrix}'
    z: [1, 2]
"""
    inputs = sheet(text).inputs
    assert inputs["x"] == ((F(1, 2), F(5, 4)), (F(-1), F(3)))
    assert str(inputs["y"][1][1]) in ("2*(1/sqrt(2))", "(1/sqrt(2))*2", "2/sqrt(2)")


TEXTS = ['"[[1, 2],\\n [3, 4]]"', '"1 2\\n3 4"', ">\n      1 2\n\n      3 4", "|\n      1 2\n      3 4"]


@pytest.mark.parametrize("value", TEXTS)
def test_a_paste_is_the_same_in_every_kind_of_text(value):
    # only a literal block has a place for each of its lines
    case = loads(HEAD + f"  inputs:\n    x: {value}\n  Q: [[1, 0], [0, 1]]\n  K: [[1, 0], [0, 1]]\n  V: {value}\n")
    assert case.sheets[""].inputs["x"] == case.problems[""].heads[0].v == ((F(1), F(2)), (F(3), F(4)))


def test_attention_takes_pasted_and_drawn_inputs():
    case = loads(
        """version: 1
problem:
  X: |
    1 0 0
    0 1 0
  draws: [{generator: numpy-legacy, seed: 42, draw: {W_Q: "randint(3, size=(3, 3))", W_K: "randint(3, size=(3, 3))",
           W_V: "randint(3, size=(3, 3))"}}]
"""
    )
    # Source: numpy.random.RandomState(42).randint(3, size=(3, 3)), as in the published example W29
    assert ((F(2), F(0), F(2)), (F(2), F(0), F(0)), (F(2), F(1), F(2))) == case.problems[""].heads[0].W_Q
    assert ((F(1), F(0), F(0)), (F(0), F(1), F(0))) == case.problems[""].X


def test_steps_see_inputs_stages_and_earlier_steps():
    case = loads(
        """version: 1
problem: {Q: [[1, 0]], K: [[1, 1], [0, 1]], V: [[1], [2]], scale: 1, inputs: {c: 3}, steps: {e: exp(scaled)}}
printed:
  total_e: {of: "total(e)*c", values: 11.15}
"""
    )
    assert [str(step.name) for step in case.sheets[""].steps] == ["e", "total_e"]
    assert case.printed[""][0].cells[0].index == ()


def test_everything_drawn_is_a_problem_of_attention():
    draw = '{X: "rand(2, 2)", W_Q: "rand(2, 2)", W_K: "rand(2, 2)", W_V: "rand(2, 2)"}'
    draws = f"  draws: [{{generator: numpy-legacy, seed: 1, draw: {draw}}}]\n"
    case = loads(HEAD + draws + "printed: {q: [[1, 1], [1, 1]]}\n")
    assert case.problems[""].lengths == (2, 2)


def test_beside_inputs_a_drawn_name_is_any_input():
    case = loads(HEAD + "  inputs: {v: [1, 2]}\n  draws: [{generator: r, seed: 1, draw: {Q: runif(2)}}]\n")
    assert len(case.sheets[""].inputs["Q"]) == 2


def test_an_expression_in_brackets_is_no_paste():
    text = """  inputs: {golden: (1 + sqrt(5))/2}
printed: {again: {of: golden, values: (1+sqrt(5))/2}, half: {of: 1/2, values: '\\frac{1}{2}'}}
"""
    case = loads(HEAD + text)
    assert not isinstance(case.sheets[""].inputs["golden"], tuple)
    assert [block.cells[0].index for block in case.printed[""]] == [(), ()]


def test_a_column_may_be_pasted_for_a_list_and_decimals_in_a_line():
    text = """  inputs: {x: [[1, 2], [3, 4]]}
printed:
  down: {of: "x[:,0]", values: "1\\n3"}
  line: {of: "x[0]", decimal: comma, values: "1,00 2,00"}
"""
    printed = loads(HEAD + text).printed[""]
    assert [[cell.value for cell in block.cells] for block in printed] == [[F(1), F(3)], [F(1), F(2)]]


MISTAKES = {
    "unknown name": (
        "  inputs: {x: [1, 2]}\nprinted: {w: {of: softmax(y), values: [1, 2]}}",
        (4, 27),
        "unknown name 'y'; known: x",
    ),
    "later step": (
        "  inputs: {x: [1, 2]}\nprinted:\n  a: {of: b, values: [1, 2]}\n  b: {of: x, values: [1, 2]}",
        (5, 11),
        "unknown name 'b'",
    ),
    "shape": (
        "  inputs: {x: [1, 2]}\nprinted: {w: {of: x, values: [1, 2, 3]}}",
        (4, 30),
        "'w' has 2 numbers here, and 3 are printed",
    ),
    "list for a number": (
        "  inputs: {x: 1}\nprinted: {w: {of: x, values: [1, 2]}}",
        (4, 30),
        "'w' is one number, and 2 are printed",
    ),
    "no formula": ("  inputs: {x: 1}\nprinted: {w: [[1]]}", (4, 11), "'w' is no stage"),
    "no stage": ("  inputs: {x: 1}\nprinted: {weights: [[1]]}", (4, 11), "no stage 'weights'"),
    "taken name": ("  inputs: {x: 1}\n  steps: {x: 2}", (4, 11), "the name 'x' is taken"),
    "name": ("  inputs: {2x: 1}", (3, 12), "found '2x' as a name"),
    "stage name": ("  Q: [[1]]\n  K: [[1]]\n  V: [[1]]\n  inputs: {scores: 1}", (6, 12), "a stage of that name"),
    "ragged": ("  inputs: {x: [[1, 2], [3]]}", (3, 15), "not equally long"),
    "no digits": ("  inputs: {x: {values: [1/3], rounded: true}}", (3, 25), "has no last digit"),
    "unknown key": ("  inputs: {x: {valeus: [1]}}", (3, 16), "unknown key 'valeus'"),
    "empty": ("  inputs: {x: []}", (3, 15), "found an empty list"),
    "ellipsis inside": ("  inputs: {x: [1, ..., 2]}", (3, 15), "an ellipsis ends a list"),
    "division": ("  inputs: {x: 0}\n  steps: {y: 1/x}", (4, 15), "division by zero"),
    "formula": ("  inputs: {x: 1}\n  steps: {y: x +}", (4, 17), "found the end of the text"),
    "too deep": ("  inputs: {x: [[1]]}\n  steps: {y: '[x, x]'}", (4, 14), "gives 2 x 1 x 1 numbers"),
    "generator": ("  draws: [{generator: numpi, seed: 1, draw: {x: rand(3)}}]", (3, 23), "did you mean 'numpy'?"),
    "seed": ("  draws: [{generator: r, seed: x, draw: {x: runif(3)}}]", (3, 32), "wanted a whole number"),
    "call": ("  draws: [{generator: r, seed: 1, draw: {x: runif(3), y: runf(2)}}]", (3, 58), "did you mean 'runif'?"),
    "two signs": ("  draws: [{generator: r, seed: --5, draw: {x: runif(3)}}]", (3, 32), "wanted a whole number"),
    "drawn vector": (
        "  K: [[1, 0]]\n  V: [[1]]\n  draws: [{generator: r, seed: 1, draw: {Q: runif(2)}}]",
        (5, 42),
        "Q was drawn as 2, wanted a matrix",
    ),
    "drawn number": (
        "  K: [[1, 0]]\n  V: [[1]]\n  draws: [{generator: numpy-legacy, seed: 1, draw: {Q: rand()}}]",
        (5, 53),
        "Q was drawn as one number",
    ),
    "drawn block": (
        "  inputs: {x: 1}\n  draws: [{generator: numpy-legacy, seed: 1, draw: {y: 'rand(2, 2, 2)'}}]",
        (4, 53),
        "y was drawn as 2 x 2 x 2, wanted a number, a list or a matrix",
    ),
    "left out": (
        "  inputs: {v: [1, 2]}\nprinted: {w: {missing: m, values: [0.3, ..., 0.2]}, o: {of: 'w[1]*v[1]', values: 0.4}}",
        (4, 61),
        "an ellipsis leaves out some of its prints",
    ),
    "many": (
        "  draws: [{generator: r, seed: 1, draw: {x: runif(1000000)}}]",
        (3, 51),
        "wanted an integer from 1 to 20000",
    ),
    "pasted": (
        "  inputs:\n    x: |\n      \\begin{bmatrix} 1 & 2 \\\\ 3\n      \\end{bmatrix}",
        (5, 32),
        "row 2 has 1 number",
    ),
    "reading": (
        "  inputs: {x: [1, 2]}\nprinted: {w: {of: softmax(x), readings: {half: softmax(z)}, values: [1, 2]}}",
        (4, 56),
        "unknown name 'z'; known: x",
    ),
    "comma": (
        "  inputs: {x: 1000}\nprinted: {a: {of: x, values: '1,000'}}",
        (4, 31),
        "1000 with a decimal point, 1.000 with a decimal comma",
    ),
    "tolerance": (
        "  inputs: {x: [1, 2]}\nprinted: {w: {of: x, tolerance: -1, values: [1, 2]}}",
        (4, 33),
        "a negative tolerance",
    ),
    "rounding": (
        "  inputs: {x: [1, 2]}\nprinted: {w: {of: x, rounding: up, values: [1, 2]}}",
        (4, 32),
        "wanted 'rounded' or 'truncated'",
    ),
}


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_a_mistake_is_named_with_its_place(name):
    text, place, message = MISTAKES[name]
    found = mistakes(HEAD + text)
    assert any(message in words for _, _, words in found), found
    assert any((line, column) == place for line, column, words in found if message in words), found


def test_a_mistake_in_an_input_is_not_repeated_where_it_is_used():
    text = HEAD + "  inputs: {x: [1, [2]]}\nprinted: {a: {of: x, values: [1, 2]}, b: {of: a, values: [1, 2]}}"
    assert len(mistakes(text)) == 1


@pytest.mark.parametrize(
    "formula",
    [
        "pe(64, 64, 10000)",
        "matmul(pe(64, 64, 10), pe(64, 64, 10))",
        "softmax(" * 40 + "x" + ")" * 40,
        "exp(exp(exp(x)))",
        "cat(" + "x, " * 900 + "x)",
        "10**4000",
        "__import__('os').system('true')",
        "softmax(x, 10**400)",
    ],
)
def test_hostile_formulas_end(formula):
    with no_hang():
        lines = read(HEAD + f'  inputs: {{x: [1, 2]}}\n  steps: {{y: "{formula}"}}')
    assert set(lines) <= {4}


def read(text):
    """The lines of the mistakes of a case, if it has any."""
    try:
        loads(text)
    except CaseError as error:
        return [m.line for m in error.mistakes]
    return []
