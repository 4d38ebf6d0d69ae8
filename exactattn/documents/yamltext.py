"""YAML text -> tree of nodes, with nothing of YAML that a case does not need.

Every scalar stays text, so no value is ever taken for a date, a bool or a float. Anchors, aliases and tags are
refused, which leaves no way to write a file that grows when it is read. The caps are checked while the parser's
events arrive, before anything is built from them.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

import yaml

from exactattn.documents.excerpts import excerpt
from exactattn.documents.nodes import Mapping, Mistakes, Node, Scalar, Sequence, quoted
from exactattn.findings import Place

START = "`exactattn new` writes a template to start from"
MAX_DEPTH = 40  # lists and mappings inside each other
MAX_NODES = 50_000  # keys, values, lists and mappings
MAX_SCALAR = 10_000  # characters of one value
MAX_PASTE = 200_000  # characters of a literal block
MAX_PURE = 100_000  # characters of a file where PyYAML has no libyaml: its own parser is 100 times slower

_FAST: type | None = getattr(yaml, "CSafeLoader", None)
_ILLEGAL = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COMMENT = re.compile(r"(?<=\s)#")
_HINTS = (
    ("found character", "put quotes round a text with special characters"),
    ("mapping values are not allowed", "put quotes round a text with ': ' in it, and indent keys of a mapping alike"),
    ("unknown escape", "in double quotes a backslash is special: use single quotes"),
    ("unexpected end of stream", "close the quotes"),
    ("expected ',' or", "close the bracket, or put a comma between the items"),
    ("comment or line break", "put quotes round the whole text"),
    ("expected '-' indicator", "a list item begins with '- ', in the same column as the item before it"),
    (
        "expected key",
        "indent keys of a mapping alike, and put quotes round a text that begins with a bracket or quote; a pasted "
        "block whose first line is indented more than the others begins with `|2` in place of `|`",
    ),
    ("could not find expected ':'", "a key is followed by ': '"),
)


def read_yaml(text: str, mistakes: Mistakes, what: str = "a case", start: str = START) -> Node:
    """The one document of a YAML text. Errors: CaseError, when there is none or it cannot be read.

    `what` is wanted, `start` the hint to who gave nothing.
    """
    illegal = _ILLEGAL.search(text)
    if illegal:
        before = text[: illegal.start()]
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        mistakes.stop(f"found the control character {quoted(illegal[0])}, wanted text", place, "remove it")
    if _FAST is None and len(text) > MAX_PURE:
        mistakes.stop(f"the file has {len(text)} characters, and more than {MAX_PURE} need PyYAML with libyaml")
    try:
        return _Builder(text, mistakes).document(what, start)
    except yaml.MarkedYAMLError as error:
        _syntax(error, text, mistakes)
    except yaml.YAMLError as error:
        mistakes.stop(f"this is not YAML: {error}")


class _Builder:
    """Events -> nodes, counting them."""

    def __init__(self, text: str, mistakes: Mistakes) -> None:
        self.loader = (_FAST or yaml.SafeLoader)(text)
        self.lines = text.split("\n")
        self.mistakes = mistakes
        self.nodes = 0

    def document(self, what: str, start: str) -> Node:
        self.next()  # the start of the stream
        if isinstance(self.next(), yaml.StreamEndEvent):
            self.mistakes.stop(f"the file is empty, wanted {what}", None, start)
        node = self.node(self.next(), 0)
        self.next()  # the end of the document
        more = self.next()
        if not isinstance(more, yaml.StreamEndEvent):
            hint = "one file holds one case: remove the `---`, or use `problems:` for several questions"
            self.mistakes.stop("found a second document, wanted the end of the file", _place(more), hint)
        return node

    def next(self) -> Any:
        return self.loader.get_event()

    def node(self, event: Any, depth: int) -> Node:
        self.count(event, depth)
        place = _place(event)
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event, place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(place, depth)
        return self.mapping(place, depth)

    def count(self, event: Any, depth: int) -> None:
        """Refuses what a case may not have, before it is read."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            hint = "put large inputs into fewer cells; whole tensors are not written by hand"
            self.mistakes.stop(f"more than {MAX_NODES} values in one file", _place(event), hint)
        if depth > MAX_DEPTH:
            message = f"lists or mappings are nested more than {MAX_DEPTH} deep"
            self.mistakes.stop(message, _place(event), "write it flatter")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            found = quoted(f"{sign}{event.anchor}")
            hint = "write the value out where it is used; text that begins with & or * needs quotes"
            self.mistakes.stop(f"found the YAML reference {found}; references are not read", _place(event), hint)
        if getattr(event, "tag", None):
            hint = "remove it: every value is read as text; text that begins with ! needs quotes"
            self.mistakes.stop(f"found the YAML tag {quoted(event.tag)}; tags are not read", _place(event), hint)

    def scalar(self, event: Any, place: Place) -> Scalar:
        most = MAX_PASTE if event.style == "|" else MAX_SCALAR
        if len(event.value) > most:
            message = f"found a value of {len(event.value)} characters, wanted at most {most}"
            self.mistakes.stop(message, place, "a case has no use for longer ones")
        one_line = event.start_mark.line == event.end_mark.line
        start = self.literal(event) if event.style == "|" else None
        return Scalar(event.value, place, not event.style and one_line, start)

    def literal(self, event: Any) -> Place:
        """Where the text of a literal block begins: one line below its sign, after the indentation of its lines."""
        first = event.start_mark.line + 1
        block = self.lines[first : event.end_mark.line + 1]
        indents = [len(line) - len(line.lstrip(" ")) for line in block if line.strip()]
        return Place(first + 1, (indents[0] if indents else 0) + 1)

    def sequence(self, place: Place, depth: int) -> Sequence:
        items = []
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            items.append(self.node(event, depth + 1))
        return Sequence(tuple(items), place)

    def mapping(self, place: Place, depth: int) -> Mapping:
        values: dict[str, Node] = {}
        keys: dict[str, Scalar] = {}
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            key = self.node(event, depth + 1)
            value = self.node(self.next(), depth + 1)
            if not isinstance(key, Scalar):
                self.mistakes.add("found a list or mapping as a key, wanted text", key)
            elif key.text in keys:
                hint = f"the first is in line {keys[key.text].place.line}; keep one"
                self.mistakes.add(f"the key {quoted(key.text)} stands twice", key, hint)
            else:
                keys[key.text], values[key.text] = key, value
        return Mapping(values, keys, place)


def _place(event: Any) -> Place:
    return Place(event.start_mark.line + 1, event.start_mark.column + 1)


def _syntax(error: yaml.MarkedYAMLError, text: str, mistakes: Mistakes) -> NoReturn:
    """The parser's complaint in our words, with the line that it is about."""
    mark, problem = error.problem_mark, str(error.problem)
    if mark is None:
        mistakes.stop(f"this is not YAML: {problem}")
    place = Place(mark.line + 1, mark.column + 1)
    if "tab character" in problem or _tab_at(text, mark):
        hint = "replace each tab by two spaces"
        mistakes.stop("found a tab in the indentation, wanted spaces", place, hint, excerpt(text, place))
    started = None if error.context_mark is None else Place(error.context_mark.line + 1, error.context_mark.column + 1)
    if error.context is None or started is None or started == place:
        mistakes.stop(f"this is not YAML: {problem}", place, _hint(problem), excerpt(text, place))
    begins = f"that begins in line {started.line}, column {started.column}"
    comment = _comment_in_list(text, started, place) if "flow" in error.context else None
    if comment is not None:
        kind = "mapping" if "mapping" in error.context else "list"
        message = f"the {kind} {begins} is not closed: ` #` begins a comment, which hides the rest of its line"
        mistakes.stop(message, comment, "put quotes round a text with ` #` in it", excerpt(text, comment))
    if "unexpected end of stream" in problem:  # nothing stands at the end: the beginning is what to look at
        place = started
    lines = excerpt(text, place) or excerpt(text, started)
    mistakes.stop(f"this is not YAML: {problem}, {error.context} {begins}", place, _hint(problem), lines)


def _hint(problem: str) -> str | None:
    return next((words for sign, words in _HINTS if sign in problem), None)


def _comment_in_list(text: str, start: Place, end: Place) -> Place | None:
    """Where a comment inside an unclosed list or mapping hides a bracket that would close it."""
    for number, line in enumerate(text.splitlines()[start.line - 1 : end.line], start.line):
        for sign in _COMMENT.finditer(line, start.column - 1 if number == start.line else 0):
            before, hidden = line[: sign.start()], line[sign.end() :]
            in_quotes = before.count("'") % 2 or before.count('"') % 2
            if not in_quotes:
                if "]" in hidden or "}" in hidden:
                    return Place(number, sign.end())
                break
    return None


def _tab_at(text: str, mark: Any) -> bool:
    lines = text.splitlines()
    return lines[mark.line : mark.line + 1] != [] and lines[mark.line].startswith("\t", mark.column)
