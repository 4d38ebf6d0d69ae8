"""A case file as a tree of places: every scalar is still the text that was written."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as Names
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

from exactattn.errors import CaseError, Mistake, close
from exactattn.findings import Place

MOST_SHOWN = 50  # more mistakes help nobody
MOST_MISTAKES = 200  # after so many the reading ends
SHOWN = 60  # characters of the user's text that a message repeats


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as text; `plain` when it stood without quotes on one line, so that offsets in it are places.

    `start` is where the text of a literal block (`|`) begins.
    """

    text: str
    place: Place
    plain: bool = True
    start: Place | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys with values, in the order of the file; `keys` has the places of the keys."""

    values: dict[str, Node]
    keys: dict[str, Scalar]
    place: Place


Node: TypeAlias = Scalar | Sequence | Mapping
NONE: Names[str, str] = MappingProxyType({})


class Mistakes:
    """Every mistake of one file, gathered while the reading goes on; the same one at one place counts once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: dict[Mistake, None] = {}
        self._kinds: set[Place] = set()

    def add(self, message: str, at: Node | Place | None = None, hint: str | None = None, lines: str = "") -> None:
        """Notes a mistake at a place; `lines` of the file, made safe, stand below the message.

        Errors: CaseError when there are too many to go on.
        """
        place = at if isinstance(at, Place) or at is None else at.place
        line, column = (None, None) if place is None else (place.line, place.column)
        text = escaped(message) + ("\n" + lines if lines else "")
        self._found[Mistake(text, line, column, None if hint is None else escaped(hint))] = None
        if len(self._found) >= MOST_MISTAKES:
            raise self.error()

    def stop(self, message: str, at: Node | Place | None = None, hint: str | None = None, lines: str = "") -> NoReturn:
        """Notes a mistake after which nothing more can be read."""
        self.add(message, at, hint, lines)
        raise self.error()

    def error(self) -> CaseError:
        """All of them as one exception, in the order of the file."""
        found = sorted(self._found, key=lambda m: (m.line or 0, m.column or 0))
        if len(found) > MOST_SHOWN:
            many = "more" if len(found) >= MOST_MISTAKES else str(len(found) - MOST_SHOWN)
            found = [*found[:MOST_SHOWN], Mistake(f"and {many} other mistakes", hint="mend these first")]
        return CaseError(escaped(self.path), found)

    def __len__(self) -> int:
        return len(self._found)

    def wrong_kind(self, node: Node, wanted: str, hint: str | None = None) -> None:
        """Notes that a node is not of the kind that is wanted; said once of a place."""
        if node.place in self._kinds:
            return
        self._kinds.add(node.place)
        self.add(f"found {found(node)}, wanted {wanted}", node, hint)

    def mapping(self, node: Node) -> Mapping | None:
        """The node as a mapping, or None after noting the mistake."""
        if isinstance(node, Mapping):
            return node
        self.wrong_kind(node, MAPPING)
        return None

    def sequence(self, node: Node) -> Sequence | None:
        """The node as a list, or None after noting the mistake."""
        if isinstance(node, Sequence):
            return node
        self.wrong_kind(node, LIST)
        return None

    def text(self, node: Node) -> str | None:
        """The node as text that is not empty, or None after noting the mistake."""
        if not isinstance(node, Scalar) or not node.text.strip():
            self.wrong_kind(node, TEXT)
            return None
        return node.text

    def choice(self, node: Node, known: Iterable[str], what: str, others: Names[str, str] = NONE) -> str | None:
        """The node as one of the known words, or None after noting the mistake; `others` as in `nearest`."""
        names = list(known)
        text = self.text(node)
        if text is None or text in names:
            return text
        self.add(f"found {quoted(text)}, wanted {what}", node, nearest(text, names, others))
        return None


MAPPING = "a mapping (`key: value`)"
LIST = "a list (`[..., ...]`)"
TEXT = "text or a number"


def nearest(word: str, known: Iterable[str], others: Names[str, str] = NONE) -> str:
    """A hint for a misspelt word: the closest known one, or all of them.

    `others` are words that people use elsewhere, with what they are called here.
    """
    names = list(known)
    if word.strip().casefold() in others:
        return f"did you mean {others[word.strip().casefold()]}?"
    same = [name for name in names if name.casefold() == word.casefold()]
    return f"did you mean {same[0]!r}?" if same else close(word[:SHOWN], names).removeprefix("; ")


def found(node: Node) -> str:
    """What a node is, in words."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list" if node.items else "an empty list"
    return quoted(node.text) if node.text.strip() else "nothing"


def quoted(text: str) -> str:
    """Text of the user in quotes, shortened, its control characters escaped."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")


def escaped(text: str) -> str:
    """Text with its control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def plain(node: Node) -> Any:
    """The node as dicts, lists and texts."""
    if isinstance(node, Mapping):
        return {key: plain(value) for key, value in node.values.items()}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return node.text
