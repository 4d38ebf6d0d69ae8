"""Good files: what is read from them, number by number."""

import io
import sys
from fractions import Fraction

import pytest

from exactattn.attention.spec import Stage
from exactattn.documents.case import Case, load, loads
from exactattn.errors import CaseError
from exactattn.findings import Place, Verdict
from exactattn.journeys.new import template
from exactattn.numbers import exact
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import sqrt

F = Fraction
QKV = "Q: [[1, 2]], K: [[1, 2], [3, 4]], V: [[1], [2]]"
HEAD = "{Q: [[1], [2]], K: [[1], [2]], V: [[1], [2]]}"


def problem(text: str):
    return loads(f"version: 1\nproblem: {{{text}}}\n").problems[""]


def block(text: str, of: str = QKV, name: str = "weights"):
    (found,) = loads(f"version: 1\nproblem: {{{of}}}\nprinted: {{{name}: {text}}}\n").printed[""]
    return found


def test_the_template_is_a_case() -> None:
    case = loads(template(), "new.yaml")
    assert case.title == "Three tokens, identity projections"
    assert ((F(1), F(0)), (F(0), F(1)), (F(1), F(1))) == case.problems[""].X
    assert [b.stage for b in case.printed[""]] == [Stage.SCALED, Stage.WEIGHTS, Stage.OUTPUT]
    assert [c.id for c in case.claims[""]] == ["law:1", "equation:1", "largest", "general"]
    assert case.formats == ("float64", "float32")
    assert case.algorithms == ("naive", "shifted", "online")


def test_places_texts_and_digits() -> None:
    cells = block("[[0.40, 28.4%]]").cells
    assert [(c.index, c.text, c.value, c.unit, c.digits, c.form) for c in cells] == [
        ((0, 0), "0.40", F(2, 5), F(1, 100), 2, "decimal"),
        ((0, 1), "28.4%", F(71, 250), F(1, 1000), 3, "percent"),
    ]
    assert [c.where for c in cells] == [Place(3, 22), Place(3, 28)]


def test_a_factor_is_in_the_value_and_its_magnitude_in_the_unit() -> None:
    first, second = block("{times: -1/sqrt(d_k), values: [[0.5, 1/3]]}", name="scaled").cells
    assert first.value == exact.mul(exact.div(F(-1), sqrt(F(2))), F(1, 2))
    assert enclose(first.unit).within(F("0.0707106"), F("0.0707107")) is Answer.YES
    assert second.unit is None
    assert second.digits is None
    assert second.form == "fraction"
    assert block("{times: -2, values: [[0.5, 3]]}", name="scaled").cells[0].unit == F(1, 5)


def test_a_unit_of_its_own() -> None:
    first, second = block("{unit: 10, times: 3, values: [[150, 1/3]]}", name="scores").cells
    assert (first.unit, first.digits) == (F(30), 2)
    assert second.unit == F(30)


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        ("{rows: [1], values: [5, 6]}", [(1, 0), (1, 1)]),
        ("{rows: [1, 0], columns: [1], values: [[5], [6]]}", [(1, 1), (0, 1)]),
        ("{columns: [1], values: [5, 6]}", [(0, 1), (1, 1)]),
        ("[[1, ...], [..., 2]]", [(0, 0), (1, 1)]),
    ],
)
def test_parts_of_a_stage(text: str, indices: list) -> None:
    assert [
        c.index for c in block(text, "X: [[1, 0], [0, 1]], W_Q: identity, W_K: identity, W_V: identity").cells
    ] == indices


def test_minus_infinity_is_a_cell_without_a_value_where_scores_are_masked() -> None:
    square = "X: [[1, 0], [0, 1]], W_Q: identity, W_K: identity, W_V: identity, causal: %s"
    first, second, last = block("{times: 2, values: [[0.5, -inf], [-∞, ...]]}", square % "yes", "masked").cells
    assert (first.value, first.form) == (F(1), "decimal")
    for cell, text, index in ((second, "-inf", (0, 1)), (last, "-∞", (1, 0))):
        assert (cell.text, cell.value, cell.unit, cell.digits, cell.form) == (text, None, None, None, "minus-infinity")
        assert (cell.index, cell.where.line) == (index, 3)


def test_a_list_is_one_row_and_lse_is_a_list() -> None:
    assert [c.index for c in block("[0.4, 0.6]").cells] == [(0, 0), (0, 1)]
    assert [c.index for c in block("[3]", name="lse").cells] == [(0,)]
    two = "Q: [[1], [2]], K: [[1]], V: [[1]]"
    assert [c.index for c in block("{rows: [1], values: [3]}", two, "lse").cells] == [(1,)]


@pytest.mark.parametrize(
    ("stage", "shape"),
    [("q", (2, 1)), ("k", (2, 3)), ("v", (1, 3)), ("scores", (3, 1)), ("weights", (3, 1)), ("context", (1, 1))],
)
def test_tokens_as_columns(stage: str, shape: tuple) -> None:
    rows = [[1] * shape[1]] * shape[0]
    of = "Q: [[1], [2]], K: [[1, 2, 3], [1, 2, 3]], V: [[1, 2, 3]], orientation: columns"
    cells = block(str(rows), of, stage).cells
    assert cells[-1].index == (shape[0] - 1, shape[1] - 1)


def test_heads_and_identity() -> None:
    found = problem(f"X: [[1, 0, 0], [0, 1, 0]], heads: [{HEAD}, {HEAD}], W_O: identity")
    assert found.several_heads
    assert found.W_O == ((1, 0), (0, 1))
    (one,) = loads(
        f"version: 1\nproblem: {{heads: [{HEAD}]}}\nprinted: {{weights: {{head: 0, values: [[1, 0], [0, 1]]}}}}"
    ).printed[""]
    assert one.head == 0
    columns = problem("X: [[1, 2], [3, 4], [5, 6]], W_Q: identity, W_K: identity, W_V: identity, orientation: columns")
    assert len(columns.heads[0].W_Q) == 3


def test_matrices_with_a_factor() -> None:
    found = problem("Q: {times: 1/2, values: [[1, 2]]}, K: [[1, 1/3]], V: [[1]]")
    assert found.heads[0].q == ((F(1, 2), F(1)),)
    assert found.heads[0].k == ((F(1), F(1, 3)),)


@pytest.mark.parametrize(
    ("option", "field", "value"),
    [
        ("scale: 1/d_k", "scale", F(1, 2)),
        ("base: 2", "base", F(2)),
        ("base: e", "base", None),
        ("base: exp(1)", "base", None),
        ("causal: false", "causal", "none"),
        ("causal: No", "causal", "none"),
        ("causal: off", "causal", "none"),
        ("causal: bottom-right", "causal", "bottom-right"),
        ("masked_row: zero", "masked_row", "zero"),
    ],
)
def test_options(option: str, field: str, value: object) -> None:
    assert getattr(problem(f"{QKV}, {option}").spec, field) == value


def test_causal_true_where_both_corners_are_one() -> None:
    assert problem("Q: [[1]], K: [[1]], V: [[1]], causal: true").spec.causal == "top-left"


@pytest.mark.parametrize(
    ("mask", "allowed", "bias"),
    [
        ("[[1, 0]]", (True, False), None),
        ("[[true, FALSE]]", (True, False), None),
        ("[[0, -inf]]", (True, False), None),
        ("[[0, -.inf]]", (True, False), None),
        ("[[-1e9, 0]]", (True, True), (F(-(10**9)), F(0))),
        ("[[1/2, -inf]]", (True, False), (F(1, 2), F(0))),
    ],
)
def test_masks(mask: str, allowed: tuple, bias: tuple | None) -> None:
    found = problem(f"{QKV}, mask: {mask}")
    assert found.mask == (allowed,)
    assert found.bias == (None if bias is None else (bias,))


def test_a_mask_of_numbers_is_added_to_the_bias() -> None:
    assert problem(f"{QKV}, mask: [[2, -inf]], bias: [[1, 1]]").bias == ((F(3), F(1)),)


def test_several_problems() -> None:
    one = "{Q: [[1]], K: [[1]], V: [[1]]}"
    case = loads(
        f"version: 1\nproblems: {{a: {one}, b: {one}}}\n"
        "printed: {'a:weights': [[1]], w: {problem: b, stage: weights, values: [[1]]}}\n"
        "claims:\n- law: convex-hull\n- equation: 1 + 1 = 2\n- {law: orientation, problem: a}\n- {law: orientation}\n"
        "- {order: 'q[0,0] > 0', problem: b}\n"
    )
    assert list(case.problems) == ["a", "b"]
    assert [(name, [b.name for b in group]) for name, group in case.printed.items()] == [
        ("a", ["weights"]),
        ("b", ["w"]),
    ]
    ids = {name: [c.id for c in group] for name, group in case.claims.items()}
    assert ids == {"a": ["law:1"], "b": ["order:1"], "": ["law:1", "equation:1", "law:2"]}


def test_one_named_problem_needs_no_naming() -> None:
    case = loads(
        "version: 1\nproblems: {a: {Q: [[1]], K: [[1]], V: [[1]]}}\nprinted: {weights: [[1]]}\n"
        "claims: [{law: convex-hull}]"
    )
    assert list(case.printed) == ["a"]
    assert [claim.id for claim in case.claims["a"]] == ["law:1"]


def test_claims_alone_with_fields_as_text() -> None:
    case = loads(
        "version: 1\ntitle: 标题\nsource: {document: a.txt, pages: [1, 2]}\nclaims:\n"
        "- {id: wo, formula: O_i = W_O C_i, shapes: {C_i: [1, H*d_v]}, cites: S23, says: 输出}\n"
        "- {uncheckable: words, why: none}\n- {equation: sum(printed.weights[2,:]) = 1, note: yes}\n".replace(
            "sum(printed.weights[2,:])", "1"
        )
    )
    assert case.problems == {}
    assert case.title == "标题"
    assert case.source == {"document": "a.txt", "pages": ["1", "2"]}
    claim = case.claims[""][0]
    assert (claim.kind, claim.text, claim.where) == ("formula", "O_i = W_O C_i", Place(5, 3))
    assert claim.fields["shapes"] == {"C_i": ["1", "H*d_v"]}
    assert case.claims[""][2].fields["note"] == "yes"


def test_statements_may_name_prints() -> None:
    text = "printed: {weights: [[1, 0]]}\nclaims:\n- {equation: 'sum(printed.weights[0,:]) = 1'}\n"
    assert len(loads(f"version: 1\nproblem: {{{QKV}}}\n{text}").claims[""]) == 1


def test_runs_and_expectations() -> None:
    case = loads(
        "version: 1\nruns: {formats: [bfloat16], algorithms: []}\n"
        'expect:\n  "weights[2, :]": {verdict: fails, reason: new, why: known}\n'
    )
    assert case.formats == ("bfloat16",)
    assert case.algorithms == ()
    (known,) = case.expect
    assert (known.pattern, known.verdict, known.reason) == ("weights[2, :]", Verdict.FAILS, "new")
    assert known.where == Place(4, 3)


def test_files_and_standard_input(tmp_path, monkeypatch) -> None:
    file = tmp_path / "one.yaml"
    file.write_bytes(b"\xef\xbb\xbfversion: 1\r\nclaims:\r\n- law: convex-hull\r\n")
    case = load(file)
    assert isinstance(case, Case)
    assert case.title == "one"
    assert case.claims[""][0].where == Place(3, 3)
    assert len(case.sha256) == 64
    assert case.path == str(file)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"version: 1\n")))
    assert load("-").path == "-"


def test_reading_a_case_does_not_need_sympy(tmp_path) -> None:
    import subprocess

    file = tmp_path / "one.yaml"
    file.write_text(template())
    code = (
        f"import sys; from exactattn.documents.case import load; load({str(file)!r}); assert 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_first_print_of_two_problems_may_not_share_a_name() -> None:
    with pytest.raises(CaseError, match="are named 'v'"):
        loads("version: 1\nproblems: {a: {Q: [[1]], K: [[1]], V: [[1]]}}\nprinted: {v: [[1]], 'a:v': [[1]]}")
