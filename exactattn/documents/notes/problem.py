"""An example -> what a case says of it: attention from its inputs, or formulas from whatever of it is given."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from exactattn.documents.notes.examples import Example, values
from exactattn.documents.notes.masking import AFTER_MASK
from exactattn.documents.notes.masks import Masks
from exactattn.documents.notes.model import Block, Noted
from exactattn.documents.notes.recognise import Definitions
from exactattn.errors import NumeralError
from exactattn.findings import Place
from exactattn.numbers.numerals import parse_exact

PROJECTION = {"q": "W_Q", "k": "W_K", "v": "W_V"}
GIVEN = {"q": "Q", "k": "K", "v": "V"}
_CHAIN = {
    "scores": ("matmul(q, transpose(k))", ("q", "k")),
    "weights": ("softmax(scaled)", ("scaled",)),
    "output": ("matmul(weights, v)", ("weights", "v")),
}


@dataclass
class Parts:
    """The parts of a problem in order: a key with a block, or with a text; and what was assumed."""

    blocks: list[tuple[str, Block, bool]] = field(default_factory=list)  # key, numbers, rounded
    texts: list[tuple[str, str, Place | None, str]] = field(default_factory=list)  # key, text, place, comment
    steps: dict[str, str] = field(default_factory=dict)
    inputs_of_formulas: bool = False
    used: set[int] = field(default_factory=set)  # ids of printed blocks that became inputs
    noted: list[Noted] = field(default_factory=list)
    of: dict[int, str] = field(default_factory=dict)  # ids of prints that a formula of their own makes, and it
    withheld: list[tuple[Block, str]] = field(default_factory=list)  # prints that are not judged, and why

    def withholds(self, block: Block) -> bool:
        """Is a print not judged?"""
        return any(block is one for one, _ in self.withheld)

    @property
    def nothing(self) -> bool:
        """Is nothing known of where the numbers come from?"""
        return self.inputs_of_formulas and not self.blocks


@dataclass
class Maker:
    """Makes the problem of one example."""

    example: Example
    defined: Definitions
    identity: tuple[Place, str] | None  # where the document says that Q, K and V are X, and how
    leave_out: set[tuple[str, Place]] = field(default_factory=set)  # inputs that did not fit
    parts: Parts = field(default_factory=Parts)
    scale: str = "1"

    @property
    def masks(self) -> Masks:
        """What is known of the mask."""
        return Masks(self.example, self.defined.words, self.turned, self.given)

    @property
    def turned(self) -> bool:
        """Are tokens columns?"""
        return self.defined.matrices_turned is not None and self.defined.rows is None

    def withhold(self, stages: Iterable[str], why: str) -> None:
        """Leaves prints of these stages unjudged, as something that they depend on is not understood."""
        for block in self.example.printed:
            if block.role.name in stages and not self.parts.withholds(block):
                self.parts.withheld.append((block, why))

    def _here(self, place: Place) -> bool:
        """Is a place in the part of the document that is about this example?"""
        return self.example.covers(place.line)

    def make(self) -> Parts:
        """The parts of the problem."""
        for unclear in self.defined.words.unclear:
            if self._here(unclear.place):
                self.withhold(unclear.stages, unclear.why)
        if (why := self.masks.doubt()) is not None:
            self.withhold(AFTER_MASK, why)
        sources = {part: self._source(part) for part in "qkv"}
        if all(source is not None for source in sources.values()):
            self._attention(sources)
        else:
            self._formulas()
        given = any(key == "scaled" for key, *_ in self.parts.blocks)
        for block in [] if given or self.parts.nothing else self.example.printed:
            if block.scale is not None and not self._same_scale(block.scale):
                self._of_its_own(block, block.scale)
                self._after(block, f"line {block.place.line} has another scale than the problem")
        return self.parts

    def _after(self, block: Block, why: str) -> None:
        """Leaves the prints after a block of another scale unjudged where their own formula does not state one."""
        for other in self.example.printed:
            later = other is not block and other.scale is None and other.place.line >= block.place.line
            if later and other.role.name in ("scaled", *AFTER_MASK) and not self.parts.withholds(other):
                self.parts.withheld.append((other, why))

    def _same_scale(self, stated: str) -> bool:
        """Is a scale the one of the problem?"""
        width = self._width()
        names = {} if width is None else {"d_k": Fraction(width)}
        try:
            return stated == self.scale or parse_exact(stated, names) == parse_exact(self.scale, names)
        except NumeralError:
            return False

    def _of_its_own(self, block: Block, scale: str) -> None:
        """A print whose own formula has another scale than the problem: that formula is judged, if there is no mask."""
        parts, name = self.parts, block.role.name
        masked = "masked" in parts.steps or any(key in ("causal", "mask", "orientation") for key, *_ in parts.texts)
        masked |= any(key == "mask" for key, *_ in parts.blocks)
        given = (
            any(key == "scores" for key, *_ in parts.blocks) or "scores" in parts.steps or not parts.inputs_of_formulas
        )
        formula = {"weights": f"softmax(scores*{scale})", "scaled": f"scores*{scale}"}.get(name)
        if formula is None or masked or not given or block.role.row is not None or id(block) in parts.used:
            parts.withheld.append((block, f"its formula has the scale {scale}, and the problem {self.scale}"))
        else:
            width = self._width()
            parts.of[id(block)] = formula if width is None else formula.replace("d_k", str(width))

    def given(self, name: str) -> Block | None:
        """An input, or the first whole print of a stage, that may be used."""
        block = self.example.inputs.get(name) or self.example.stage(name)
        return None if block is None or (name, block.place) in self.leave_out else block

    def _source(self, part: str) -> str | None:
        """Where q, k or v comes from: its projection, the numbers themselves, or the identity."""
        x, projection = self.given("X"), self.given(PROJECTION[part])
        if x is not None and projection is not None:
            return "projected"
        if x is not None and self._is_x(part, x):
            return "identity"
        return "given" if self.given(part) is not None else None

    def _is_x(self, part: str, x: Block) -> bool:
        """Does the document say that this is X, or give the same numbers for it?"""
        own = self.given(part)
        return self.identity is not None if own is None else values(own) == values(x)

    def _attention(self, sources: dict[str, str | None]) -> None:
        x = self.given("X")
        if x is not None and set(sources.values()) != {"given"}:
            self.parts.blocks.append(("X", x, False))
        for part, source in sources.items():
            block = self.given(PROJECTION[part] if source == "projected" else part)
            if source == "identity":
                own = self.given(part)
                why = f"{GIVEN[part]} is X on line {own.place.line}" if own else self._said_identity()
                stated = own is None and "projections" in why
                self.parts.texts.append((PROJECTION[part], "identity", None, why if stated else f"assumed: {why}"))
                place = own.place if own else self.identity[0] if self.identity else Place(1, 1)
                self.parts.noted.append(Noted(place, f"{PROJECTION[part]} is the identity", why, True, not stated))
            elif block is not None:
                self.parts.blocks.append((PROJECTION[part] if source == "projected" else GIVEN[part], block, False))
                if source == "given":
                    self.parts.used.add(id(block))
        for name in ("W_O", "mask"):
            other = self.given(name)
            if other is not None:
                self.parts.blocks.append((name, other, False))
        turned = self.defined.matrices_turned
        if turned is not None and self.defined.rows is None:
            said = any(one.place == turned for one in self.defined.words.columns)
            says = f"line {turned.line} " + ("says that tokens are columns" if said else "multiplies X from the left")
            self.parts.texts.append(("orientation", "columns", turned, says))
        self._scale()
        self._mask()

    def _said_identity(self) -> str:
        return f"line {self.identity[0].line} says that {self.identity[1]}" if self.identity else ""

    def _scale(self) -> None:
        """The scale that the document states first, with numbers before sizes."""
        stated = [one for one in self.defined.scales if self._here(one.place)]
        numbers = [one for one in stated if "d_" not in one.text]
        chosen = next(iter(numbers or stated), None)
        if chosen is None:
            scale, why = "1/sqrt(d_k)", "no formula of the document states a scale"
            if not self.defined.speaks_of_scale:
                scale, why = "1", "the document speaks of a softmax, and nowhere of a scale"
            self.scale = scale
            self.parts.texts.append(("scale", scale, None, f"assumed: {why}"))
            self.parts.noted.append(Noted(self.example.first, f"the scale is {scale}", why, True, True))
            return
        self.scale = chosen.text
        self.parts.texts.append(("scale", chosen.text, chosen.place, f"line {chosen.place.line}"))
        for other in numbers:
            if other.text != chosen.text:
                says = f"line {chosen.place.line} states {chosen.text}, which is taken"
                self.parts.noted.append(Noted(other.place, f"the scale {other.text}", says, understood=False))

    def _mask(self) -> None:
        """A mask that the printed numbers show by -inf, or a causal mask that the words tell."""
        if self.given("mask") is not None:
            return
        if (shown := self.masks.shown()) is not None:
            place, mask, why = shown
            self.parts.texts.append(("mask", mask, place, f"assumed: {why}"))
            self.parts.noted.append(Noted(place, "a mask", why, True, True))
        elif (found := self.masks.causal()) is not None:
            place, why = found
            self.parts.texts.append(("causal", "true", place, f"assumed: {why}"))
            self.parts.noted.append(Noted(place, "a causal mask", why, True, True))

    def _formulas(self) -> None:
        """What can be computed from the stages that are given: each that nothing gives is an input."""
        parts, known = self.parts, set[str]()
        parts.inputs_of_formulas = True
        for name in ("q", "k", "v", "scores", "scaled", "masked", "weights", "output"):
            formula = self._formula(name, known)
            block = self.given(name)
            if formula is not None:
                parts.steps[name] = formula
                known.add(name)
            elif block is not None and name not in ("masked", "weights", "output"):
                rounded = block.derived and name in ("scores", "scaled") and _has_decimals(block)
                parts.blocks.append((name, block, rounded))
                parts.used.add(id(block))
                known.add(name)
        if "weights" not in known and "v" in known and self.given("weights") is not None and self.given("output"):
            block = self.given("weights")
            assert block is not None
            parts.blocks.append(("weights", block, block.derived and _has_decimals(block)))
            parts.steps["output"] = _CHAIN["output"][0]
            why = "what the weights are made from is not given, so the output is judged from the printed weights"
            parts.noted.append(Noted(block.place, "the weights as printed", why, True, True))
            parts.used.add(id(block))

    def _formula(self, name: str, known: set[str]) -> str | None:
        """How a stage follows from those that are known."""
        if name == "scaled":
            return self._scaled() if "scores" in known else None
        if name == "masked":
            return self._masked() if "scaled" in known else None
        if name == "weights" and "masked" in known:
            return "softmax(masked)"
        formula, needs = _CHAIN.get(name, ("", ("nothing",)))
        return formula if known.issuperset(needs) else None

    def _masked(self) -> str | None:
        """The causal mask, where there is one."""
        found = self.masks.causal()
        if found is None:
            if self.given("mask") is not None or self.example.stage("masked") is not None:
                self.withhold(AFTER_MASK, "there is a mask, and not everything that it is put on is given")
            return None
        self.parts.noted.append(Noted(found[0], "a causal mask", found[1], True, True))
        return "causal(scaled)"

    def _scaled(self) -> str | None:
        here = [one for one in self.defined.scales if self._here(one.place)]
        stated = [one for one in here if not re.search(r"\bd_|\b[nLSH]\b", one.text)]
        width = self._width()
        if stated or here:
            self.scale = (stated or here)[0].text
            if "d_k" in self.scale and width is None:
                return None
            return "scores*" + self.scale.replace("d_k", str(width))
        why = "no formula of the document states a scale"
        if self.defined.speaks_of_scale and width is not None:
            self.parts.noted.append(Noted(self.example.first, "the scale is 1/sqrt(d_k)", why, True, True))
            self.scale = "1/sqrt(d_k)"
            return f"scores*1/sqrt({width})"
        self.parts.noted.append(Noted(self.example.first, "the scores are not scaled", why, True, True))
        return "scores*1"

    def _width(self) -> int | None:
        block = self.given("q") or self.given("k") or self.given("W_K") or self.given("X")
        return None if block is None else len(block.pasted.rows) if self.turned else len(block.pasted.rows[0])


def _has_decimals(block: Block) -> bool:
    """Are some of its numbers decimals or percent, which may have been rounded?"""
    said = [cell.said for row in block.pasted.rows for cell in row if cell.said is not None]
    return any(one.numeral.form in ("decimal", "percent") for one in said)
