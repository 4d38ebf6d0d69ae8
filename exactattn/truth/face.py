"""What prints are judged against: the face that the truth of a problem and that of a sheet have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, Protocol

from exactattn.attention.spec import Problem
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact
from exactattn.truth.elements import Element, Reread


class AnyTruth(Protocol):
    """See `Truth` for what each of these gives."""

    given: dict[Element, Exact]
    most_bits: int

    @property
    def problem(self) -> Problem | None:
        """The attention problem, if there is one."""

    def following(self, given: Mapping[Element, Exact]) -> AnyTruth:
        """The truth once these elements are put in place of the computed ones."""

    def reached_from(self, stage: Any) -> Set[int] | None:
        """The orders of the earlier stages that a stage may depend on once the given numbers stand; None for all."""

    def pinned(self) -> AnyTruth:
        """The same with every number of an interval at its middle."""

    def sharpens(self, element: Element) -> bool:
        """Can more bits tell more about an element?"""

    def is_constant(self, element: Element) -> bool:
        """Is it a number that depends on no input, such as sqrt(2)?"""

    def unknown(self, element: Element) -> str | None:
        """Why an element has no true value."""

    def is_minus_infinity(self, element: Element) -> bool:
        """Is it a masked score?"""

    def value(self, element: Element, bits: int = ...) -> Interval | None:
        """The enclosure of one element."""

    def rational(self, element: Element) -> Any:
        """The element where it is known to be rational."""

    def ask(self, element: Element, question: Callable[[Interval], Answer], minus: Exact = ...) -> Answer:
        """The answer to a question about t - minus."""

    def equals(self, element: Element, x: Exact) -> Answer:
        """Is t = x?"""

    def closed_form(self, element: Element) -> str | None:
        """The element in closed form."""

    def readings(self, stage: Any) -> Iterable[Reread]:
        """The other readings of a stage or step."""
