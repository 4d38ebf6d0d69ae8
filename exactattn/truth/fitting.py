"""The scores behind printed weights, whoever states them, and the factor on them that the prints themselves show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from exactattn.attention.conventions import BASES, SCALES
from exactattn.attention.sheet import role_of
from exactattn.attention.spec import Stage
from exactattn.errors import NumeralError
from exactattn.findings import name_index
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import ONE, Exact, div, log, mul
from exactattn.numbers.expressions import Call, Name, Node
from exactattn.truth.elements import Element, Reread
from exactattn.truth.face import AnyTruth
from exactattn.truth.fit import Fit, Wanted, fit
from exactattn.truth.ladder import Truth
from exactattn.truth.prints import Judged
from exactattn.truth.sheet import SheetTruth
from exactattn.truth.step_readings import SOFTMAXES, Inside, look_inside, with_factor

HALF = Fraction(1, 2)
LEAST_SPARE = 3  # numbers beyond one a row that a factor must explain before it is called the author's
MOST_PLAIN = 12  # denominator of a factor with another numerator than 1 that somebody may have chosen
MOST_DENOMINATOR = 64  # of a factor that somebody may have chosen

Row = tuple[tuple[Fraction, ...], list[int]]  # the scores of the allowed keys, and which keys those are


def wanted(truth: AnyTruth, items: Iterable[Judged]) -> list[Wanted] | None:
    """The printed weights with the exact scores of their rows; None where those are not known to be rational."""
    out, rows = [], dict[tuple[int, int], Row | None]()
    for item in items:
        key, query = _key(truth, item.element), item.element.row(truth.problem)
        x, h = item.cell.value, item.cell.unit
        if (item.element.head, query) not in rows:
            rows[item.element.head, query] = scores_of(truth, item.element)
        row = rows[item.element.head, query]
        if row is None:
            return None
        if key not in row[1] or not isinstance(x, Fraction) or not isinstance(h, Fraction):
            continue
        name = name_index(item.block.name, *item.element.index)
        out.append(Wanted(row[0], row[1].index(key), x - h * HALF, x + h * HALF, name))
    return out


def _key(truth: AnyTruth, element: Element) -> int:
    if isinstance(element.stage, Stage):
        assert truth.problem is not None
        return element.place(truth.problem)[1]
    return element.index[-1] if element.index else 0


def scores_of(truth: AnyTruth, element: Element) -> Row | None:
    """The scores of the row that a weight is in, before any factor."""
    if isinstance(truth, SheetTruth) and not isinstance(element.stage, Stage):
        return _step_scores(truth, element)
    problem = truth.problem
    if problem is None or problem.bias is not None:
        return None
    query = element.row(problem)
    keys = [int(k) for k in problem.allowed[query].nonzero()[0]]
    columns = problem.spec.orientation == "columns"
    places = [Element(Stage.SCORES, (k, query) if columns else (query, k), element.head) for k in keys]
    return _rational([truth.rational(place) for place in places], keys)


def softmax_of(truth: SheetTruth, stage: Any) -> tuple[Call, Inside] | None:
    """The softmax that a step is, if it is one and nothing else, and what stands in it."""
    if ("softmax", stage) not in truth.memo:
        truth.memo["softmax", stage] = _softmax_of(truth, stage)
    return truth.memo["softmax", stage]  # type: ignore[no-any-return]


def _softmax_of(truth: SheetTruth, stage: Any) -> tuple[Call, Inside] | None:
    step = truth.sheet.step(str(stage))
    node: Node | None = None if step is None else step.formula
    while isinstance(node, Name) and (named := truth.sheet.step(node.label)) is not None:
        node = named.formula
    if not isinstance(node, Call) or node.function not in SOFTMAXES:
        return None
    inside = look_inside(truth, node.args[0])
    return None if inside is None else (node, inside)


def step_factors(truth: SheetTruth, stage: Any) -> list[tuple[str, Exact]]:
    """The factors of the catalogue on the scores of a step, inside a natural exponential, the stated one first."""
    found = softmax_of(truth, stage)
    if found is None:
        return []
    call, inside = found
    base = None if len(call.args) < 2 else truth.evaluate(call.args[1])
    natural = ONE if base is None else log(base)
    out = [("as stated", mul(inside.factor, natural))]
    for name, _, make in SCALES:
        with suppress(KeyError):
            out.append((name, mul(make(inside.sizes), natural)))
    out += [(name, mul(inside.factor, log(number))) for name, _, number in BASES if number != base]
    return out + ([("base=e", inside.factor)] if base is not None else [])


def _step_scores(truth: SheetTruth, element: Element) -> Row | None:
    found = softmax_of(truth, element.stage)
    if found is None or found[0].function != "softmax":
        return None
    if ("scores", element.stage) not in truth.memo:
        try:
            truth.memo["scores", element.stage] = truth.evaluate(found[1].scores)
        except NumeralError:
            truth.memo["scores", element.stage] = None
    array = truth.memo["scores", element.stage]
    if array is None:
        return None
    row = array[element.index[0]] if len(element.index) > 1 else array
    if any(isinstance(x, tuple) for x in row):
        return None
    last = element.index[0] if found[1].masked and len(element.index) > 1 else len(row) - 1
    keys = [k for k, x in enumerate(row) if k <= last and x is not None]
    return _rational([row[k] for k in keys], keys)


def _rational(scores: list[Any], keys: list[int]) -> Row | None:
    exact = tuple(x for x in scores if isinstance(x, Fraction))
    return (exact, keys) if len(exact) == len(scores) and exact else None


def fitted_reading(truth: AnyTruth, items: list[Judged]) -> Reread | None:
    """The factor on the scores that a block of weights shows, where enough of its numbers agree on one.

    A usual scale and base together, or the simplest fraction, where one interval of factors makes every number right.
    A row of n weights leaves n - 1 free, one of which the factor fits by itself; where fewer than `LEAST_SPARE` remain
    it shows nothing.
    """
    if not items or role_of(items[0].element.stage) is not Stage.WEIGHTS:
        return None
    cells = wanted(truth, items)
    if cells is None or _spare(cells) < LEAST_SPARE:
        return None
    fits = fit(cells)
    if fits is None or len(fits) != 1:
        return None
    for name, factor in _together(truth, items[0]):
        if fits[0].holds(enclose(factor)) is Answer.YES:
            return _under(truth, items[0], factor, name)
    simple = simplest(fits[0])
    plain = simple is not None and simple != 0 and (simple.denominator <= MOST_PLAIN or abs(simple.numerator) == 1)
    if simple is None or not plain or simple.denominator > MOST_DENOMINATOR:
        return None
    return _under(truth, items[0], simple, f"scale={simple}")


def _together(truth: AnyTruth, item: Judged) -> Iterator[tuple[str, Exact]]:
    """Two changes of the catalogue at once, a scale and a base, as factors inside a natural exponential."""
    if isinstance(item.element.stage, Stage):
        names: Mapping[str, Fraction] = {} if truth.problem is None else truth.problem.names
    else:
        found = softmax_of(truth, item.element.stage) if isinstance(truth, SheetTruth) else None
        names = {} if found is None else found[1].sizes
    for scale, _, make in SCALES:
        with suppress(KeyError):
            for base, _, number in BASES:
                yield f"{scale}, {base}", mul(make(names), log(number))


def _spare(cells: list[Wanted]) -> int:
    rows: dict[tuple[Fraction, ...], set[int]] = {}
    for cell in cells:
        if len(set(cell.scores)) > 1:
            rows.setdefault(cell.scores, set()).add(cell.key)
    return sum(min(len(keys), len(scores) - 1) for scores, keys in rows.items()) - 1


def _under(truth: AnyTruth, item: Judged, factor: Exact, name: str) -> Reread | None:
    """The reading with this factor inside a natural exponential."""
    if isinstance(truth, SheetTruth) and not isinstance(item.element.stage, Stage):
        found = softmax_of(truth, item.element.stage)
        if found is None:
            return None
        formula = with_factor(found[0], found[1], factor)
        return Reread(name, SheetTruth(truth.sheet.with_formula(item.element.stage, formula)))
    assert truth.problem is not None
    base = truth.problem.spec.base
    scale: Exact = factor if base is None else div(factor, log(base))
    return Reread(name, Truth(truth.problem.with_spec(scale=scale, base=base or None), None))


def simplest(one: Fit) -> Fraction | None:
    """The fraction with the smallest denominator strictly inside an interval of factors; None for one without ends.

    Proof: the walk down the Stern-Brocot tree stops at the first fraction in the interval, which has the smallest
    denominator; the ends are taken inward, at the inner ends of their enclosures.
    """
    if one.low.value is None or one.high.value is None:
        return None
    low, high = one.low.value.upper, one.high.value.lower
    if low < 0 < high:
        return Fraction(0)
    if high <= 0:
        mirrored = _between(-high, -low)
        return None if mirrored is None else -mirrored
    return _between(low, high)


def _between(low: Fraction, high: Fraction) -> Fraction | None:
    """The simplest fraction in (low, high), 0 <= low."""
    whole = low.numerator // low.denominator
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low >= high:
        return None
    if low == whole:
        inner = Fraction(1) / (high - whole)
        return whole + 1 / (Fraction(inner.numerator // inner.denominator) + 1)
    inside = _between(1 / (high - whole), 1 / (low - whole))
    return None if inside is None else whole + 1 / inside
