"""Which input or stage every block of numbers of a document is: by its left side, its formula, the words before it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from exactattn.documents.notes.asides import aside, sentence_of
from exactattn.documents.notes.conditions import Conditions
from exactattn.documents.notes.flat import compact, flat
from exactattn.documents.notes.masking import AFTER_MASK, looks_masked, softmax_names
from exactattn.documents.notes.meanings import SAME, Meaning, meaning_of
from exactattn.documents.notes.model import Block, Noted, Role, Scale
from exactattn.documents.notes.names import INPUTS, role_in_words, role_of
from exactattn.documents.notes.notebooks import UNKNOWN, is_name, printed_by_cells, typed
from exactattn.documents.notes.prompts import equation_before, is_prompt, named_by_prompt, without_prompt
from exactattn.documents.notes.sentences import Sentence, sentences
from exactattn.documents.notes.statements import Statement
from exactattn.documents.notes.wordlist import counts_a_row, mentioned, row_in_words
from exactattn.documents.pasted import Found
from exactattn.documents.pasted.source import Source
from exactattn.findings import Place
from exactattn.numbers.tokens import shorten

_NUMBERED = re.compile(r"(?:_\{?|\^\{?\()([0-9]{1,2})\)?\}?\Z")  # a matrix with a number in its name
STAGES = ("scores", "scaled", *AFTER_MASK)
MOST_TOKEN_LINES = 50
_OPERATORS = "+-*/·×=@(^,≈"


@dataclass
class Definitions:
    """What the formulas of a document define: names, scales, and which names are said to be equal."""

    names: dict[str, Role] = field(default_factory=dict)
    softmax_of: set[str] = field(default_factory=set)  # the names that a softmax is taken of as they are
    scales: list[Scale] = field(default_factory=list)
    columns: Place | None = None
    rows: Place | None = None
    speaks_of_scale: bool = False
    matrices_turned: Place | None = None  # where a projection stands before X, so that tokens are columns
    foreign: list[tuple[str, str, Place]] = field(default_factory=list)  # stages made by formulas that are not read
    unclear: set[str] = field(default_factory=set)
    words: Conditions = field(default_factory=Conditions)


def definitions(statements: Iterable[Statement], words: Conditions) -> Definitions:
    """What the equations of a document say of its names, those first that do not rest on others."""
    out, known = Definitions(words=words), list(statements)
    out.softmax_of = softmax_names(known)[0]
    if words.identity:
        out.names[SAME] = Role("X")
    for _ in range(2):
        out.scales.clear()
        out.foreign.clear()
        for statement in known:
            _define(statement, out)
    return out


def _define(statement: Statement, out: Definitions) -> None:
    meanings = [meaning for side in statement.sides if (meaning := meaning_of(side, out.names)) is not None]
    for side in statement.sides:
        turned = meaning_of(side, out.names)
        if turned is not None and turned.columns and ("X" in side or turned.name in ("output", "scaled", "weights")):
            out.matrices_turned = out.matrices_turned or statement.place
    for meaning in meanings:
        if meaning.unclear is not None:
            out.foreign.append((meaning.name, meaning.unclear, statement.place))
        elif meaning.scale is not None and (meaning.argument is None or meaning.argument[0] not in out.softmax_of):
            out.scales.append(Scale(meaning.scale, statement.place))
        if meaning.name in ("q", "k", "v") or meaning.columns:
            out.columns = out.columns or (statement.place if meaning.columns else None)
            out.rows = out.rows or (None if meaning.columns else statement.place)
    name = name_of(statement.sides[0])
    if name is None or not meanings or name in out.unclear or any(one.unclear for one in meanings):
        return
    role = Role(meanings[-1].name)
    if out.names.setdefault(name, role) != role:
        out.unclear.add(name)
        del out.names[name]


def name_of(side: str) -> str | None:
    """The side as one name without indices, if it is one or ends in one: `so the scores` and `scores` are scores."""
    spelled = flat(without_prompt(side))
    words = "" if spelled is None else spelled.strip(" *:")
    last = "" if re.search(r"[-+*/@^=|]|\)\s*\w+\Z", words) else words.split(" ")[-1]
    for name in (compact(words), compact(last)):
        bare = name.strip(" *:")
        if bare.rstrip("'").isidentifier():
            return bare
    return None


@dataclass
class Recogniser:
    """Reads the blocks of one document."""

    source: Source
    statements: list[Statement]
    defined: Definitions
    claimed: set[int]  # offsets of the statements that became equations between numbers
    zero_based: bool = False
    blocks: list[Block] = field(default_factory=list)
    noted: list[Noted] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    cells: dict[int, str] = field(default_factory=dict)  # what the code above a print printed, by line

    def read(self, found: Iterable[Found]) -> None:
        """Every block, in order."""
        self.sentences = list(sentences(self.source))
        self.cells = printed_by_cells(self.source)
        for one in found:
            self._one(one)

    def _one(self, found: Found) -> None:
        cell = found.pasted.rows[0][0]
        place = Place(cell.line, cell.column)
        statement = self._statement_at(place)
        claimed = statement is not None and statement.low in self.claimed
        label, before = found.label, found.before
        if found.pasted.joined and statement is None and found.pasted.vector:
            before = told = self._told_before(found)
            joined = told is None
        else:
            joined = found.pasted.joined
        if joined or (claimed and (label is None or _is_arithmetic(label))):
            if not claimed:
                self._left(found, place, "it is a part of a product, a sum or a call, and not judged by itself")
            return
        roles, by, meaning = self._roles(found, label, before, statement)
        if not roles:
            self._left(found, place, by)
        scale = None if meaning is None else meaning.scale
        offset = self.source.starts[place.line - 1] + place.column - 1
        apart = aside(sentence_of(self.sentences, offset)) if scale is None else None
        if apart is not None and any(role.name in STAGES for role in roles):
            self._left(found, place, f"the sentence speaks of '{apart}', so these may be other numbers")
            return
        for role in roles:
            self.blocks.append(Block(role, found.pasted, place, found.end_line, by, meaning is not None, scale))

    def _roles(
        self, found: Found, label: str | None, before: str | None, statement: Statement | None
    ) -> tuple[list[Role], str, Meaning | None]:
        """What a block is, by what, and what the formula that makes it says; nothing, and why not."""
        vector = found.pasted.vector
        if vector and label is not None and counts_a_row(label):
            return self._row_under_heading(found, label)
        if label is not None and is_prompt(label):
            side = None if statement is None else statement.sides[0]
            label = named_by_prompt(label, side, self.source.text.split("\n"))
        cell = self.cells.get(found.start_line) if label is None else None
        at_prompt = typed(before) if label is None and before is not None else None
        if cell is not None:
            label = cell
        elif at_prompt is not None:
            known = is_name(at_prompt) or meaning_of(at_prompt, self.defined.names) is not None
            label = at_prompt if known else UNKNOWN
        told = equation_before(before) if label is None and before is not None else []
        if told and (told[-1] == "" or meaning_of(told[-1], self.defined.names) is not None):
            label = "=".join(told)
        names = [] if label is None else [name for name in label.split("=") if name.strip()]
        roles = [role for name in names if (role := role_of(name, self.defined.names)) is not None]
        meaning = self._meaning(statement, names)
        if meaning is not None and meaning.unclear is not None:
            return [], f"what {_shown(meaning.unclear)} is, is not understood", None
        if meaning is not None and (not roles or len(roles) == 1):
            row = roles[0].row if roles else None
            roles = [Role(meaning.name, row)]
        by = f"its name {_shown(label)}" if label else ""
        if len(roles) == 1 and not roles[0].sure and roles[0].name in mentioned(self._words_above(found.start_line)):
            roles, by = [Role(roles[0].name, roles[0].row)], f"{by} and the words above it"
        if not roles and label is None and before is not None:
            role = role_in_words(_last_clause(before))
            role = role or role_in_words(before)
            roles, by = ([role] if role is not None else []), f"the words {_shown(before)}"
        if not roles and looks_masked(found.pasted):
            roles, by = [Role("mask", None, False)], by or f"the words {_shown(before)}"
        if not roles:
            return [], self._why_not(label, before), None
        return [self._with_row(role, found, label, before, vector) for role in roles], by, meaning

    def _row_under_heading(self, found: Found, label: str) -> tuple[list[Role], str, None]:
        """What a line such as `Token 2: [0.4, 0.6]` is a row of: what the words above the first such line name."""
        for number in range(found.start_line - 1, max(0, found.start_line - MOST_TOKEN_LINES), -1):
            text = self.source.text[self.source.starts[number - 1] : self.source.starts[number]].strip()
            name = text.partition(":")[0].strip("-*+ \t")
            if text and not (counts_a_row(name) and "[" in text):
                break
            if text and name.endswith(" 0"):
                return [], f"its name {_shown(label)} counts from 0", None
        else:
            text = ""
        role = None if any(sign in text for sign in "[=|&{") else role_in_words(text)
        if role is None:
            return (
                [],
                f"its name {_shown(label)} counts a row, and the words above, {_shown(text)}, say not of what",
                None,
            )
        row = row_in_words(label)
        return [Role(role.name, row)], f"its name {_shown(label)} and the words {_shown(text)}", None

    def _told_before(self, found: Found) -> str | None:
        """The words before one of several lists in a sentence; None where it is an operand of something."""
        first, last = found.pasted.rows[0][0], found.pasted.rows[-1][-1]
        text, start = self.source.text, self.source.starts[first.line - 1]
        opening = text.rfind("[", start, start + first.column)
        closing = text.find("]", self.source.starts[last.line - 1] + last.column - 1)
        begin = max(text.rfind(sign, start, opening) for sign in "].;") + 1
        words, after = text[max(begin, start) : opening].strip(" $*`"), text[closing + 1 : closing + 4].strip(" $*`")
        if opening < 0 or closing < 0 or not words or words[-1] in _OPERATORS or words[-1].isdigit():
            return None
        return None if after[:1] and after[0] in _OPERATORS else words

    def _meaning(self, statement: Statement | None, names: list[str]) -> Meaning | None:
        """What the formula beside a block says that it is."""
        sides = [*names, *(() if statement is None else statement.sides)]
        found = [meaning for side in sides if (meaning := meaning_of(side, self.defined.names)) is not None]
        return found[-1] if found and len({meaning.name for meaning in found}) == 1 else None

    def _with_row(self, role: Role, found: Found, label: str | None, before: str | None, vector: bool) -> Role:
        """The role with the row that a vector belongs to, where something counts it."""
        if role.name in ("W_Q", "W_K", "W_V", "W_O"):
            return role
        if not vector:
            number = None if label is None else _NUMBERED.search(label)
            return Role(role.name, None, role.sure, None if number is None else int(number[1]))
        row = role.row
        if row is not None and self.zero_based and label is not None and role_of(label) is not None:
            row = row + 1 if row_in_words(label) is None and "[" not in label else row
        labels = found.pasted.row_labels
        if row is None and labels is not None and len(labels) == 1:
            row = row_in_words(labels[0])
        if row is None:
            row = row_in_words((before if label is None else label) or "")
        return Role(role.name, row, role.sure)

    def _statement_at(self, place: Place) -> Statement | None:
        offset = self.source.starts[place.line - 1] + place.column - 1
        return next((one for one in self.statements if one.low <= offset < one.high), None)

    def _words_above(self, line: int) -> str:
        """The nearest line above a block that has words."""
        for number in range(line - 1, max(0, line - 5), -1):
            text = self.source.text[self.source.starts[number - 1] : self.source.starts[number]]
            if sum(map(str.isalpha, text)) > 3:
                return text[:500]
        return ""

    def _why_not(self, label: str | None, before: str | None) -> str:
        if label == UNKNOWN:
            return "the code before it prints several things, or none by a name"
        if label is not None:
            name = name_of(label)
            if name in self.defined.unclear:
                return f"{_shown(label)} is defined in two ways"
            return f"its name {_shown(label)} says no input or stage that is known"
        return f"the words before it, {_shown(before)}, name no one input or stage" if before else "nothing names it"

    def _left(self, found: Found, place: Place, why: str) -> None:
        self.noted.append(Noted(place, sized(found), why, understood=False))


def sized(found: Found) -> str:
    """A block for people: `3 x 2 numbers`."""
    rows = found.pasted.rows
    count = len(rows[0])
    return f"{count} number{'s' * (count != 1)}" if found.pasted.vector else f"{len(rows)} x {count} numbers"


def is_input(role: Role) -> bool:
    """Is this an input, and no stage?"""
    return role.name in INPUTS


def _vector_text(block: Block) -> tuple[object, ...]:
    return tuple(x.text if x.said is None else x.said.numeral.value for row in block.pasted.rows for x in row)


def unscaled(blocks: list[Block], found: Iterable[Found]) -> Scale | None:
    """The scale 1, where a softmax is taken of numbers that stand there as scores: `softmax([2, 4, 4])`."""
    scores = {_vector_text(block) for block in blocks if block.role.name == "scores" and block.pasted.vector}
    for block in blocks:
        label = block.pasted.label
        if label is None or "softmax" not in label.lower() or "[" not in label:
            continue
        for other in found:
            cells = other.pasted.rows[0]
            values = tuple(x.text if x.said is None else x.said.numeral.value for x in cells)
            if other.start_line == block.place.line and other.pasted.joined and values in scores:
                return Scale("1", block.place)
    return None


def _is_arithmetic(label: str) -> bool:
    spelled = flat(label)
    text = "" if spelled is None else spelled
    for word in ("sqrt", "exp", "log", "ln"):
        text = text.replace(word, "")
    return any(c.isdigit() for c in text) and not any(c.isalpha() for c in text)


def _last_clause(words: str) -> str:
    """What stands after the last comma or colon in the words before a block."""
    parts = [part for part in words.replace("，", ",").replace("：", ":").replace(":", ",").split(",") if part.strip()]
    return parts[-1] if parts else words


def _shown(text: str | None) -> str:
    return f"'{shorten(' '.join((text or '').split()))}'"
