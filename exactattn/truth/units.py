"""The reading that a unit of bytes was meant as the other of its pair: GB (1000^3) for GiB (1024^3), or the reverse."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from exactattn.attention.spec import Stage
from exactattn.numbers.expressions import Binary, Number
from exactattn.numbers.tokens import Numeral
from exactattn.truth.elements import Reread
from exactattn.truth.face import AnyTruth
from exactattn.truth.prints import Judged
from exactattn.truth.sheet import SheetTruth

DECIMAL: Mapping[str, int] = {f"{letter}B": power for power, letter in enumerate("KMGTP", 1)} | {"kB": 1}
BINARY: Mapping[str, int] = {f"{letter}iB": power for power, letter in enumerate("KMGTP", 1)}


def unit_reading(truth: AnyTruth, items: list[Judged]) -> Reread | None:
    """The other unit of a block whose numbers all have one of the pair beside them; None where there is none.

    Exact value: the true value in the unit written, counted in the other one and shown as if it were that.
    """
    words = {item.cell.word for item in items}
    word = words.pop() if len(words) == 1 else None
    stage = items[0].element.stage
    if word is None or not isinstance(truth, SheetTruth) or isinstance(stage, Stage):
        return None
    power = DECIMAL.get(word) or BINARY.get(word)
    step = truth.sheet.step(str(stage))
    if power is None or step is None or step.formula is None:
        return None
    ratio = Fraction(1000, 1024) ** power if word in DECIMAL else Fraction(1024, 1000) ** power
    other = f"{word[0].upper()}iB" if word in DECIMAL else f"{word[0]}B"
    factor = Number(Numeral(str(ratio), ratio, None, None, "closed"), 0)
    formula = Binary("*", step.formula, factor, 0)
    return Reread(f"unit={other}", SheetTruth(truth.sheet.with_formula(stage, formula), None, truth.most_bits))
