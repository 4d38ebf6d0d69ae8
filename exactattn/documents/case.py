"""A case file -> `Case`, or one `CaseError` with every mistake in it.

Reading runs no code and imports nothing; a file of tensors is opened only in the folder of the case. The bytes, the
nesting, the number of values and the size of every number are bounded before the work is done (`files`, `yamltext`,
`cells`, and `numbers` itself).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exactattn.attention.algorithms import ALGORITHMS
from exactattn.attention.sheet import Sheet
from exactattn.attention.spec import Problem
from exactattn.documents import files
from exactattn.documents import nodes as tree
from exactattn.documents.cells import Reader
from exactattn.documents.claims import ID, ID_WORDS, read_claim
from exactattn.documents.draws import read_draws
from exactattn.documents.expect import matches, read_expectation
from exactattn.documents.formulas import check_reading
from exactattn.documents.model import CasePart
from exactattn.documents.nodes import Mistakes, Node, Scalar, nearest, quoted
from exactattn.documents.printed import read_block
from exactattn.documents.problems import ATTENTION, read_problem
from exactattn.documents.shape import check_shape
from exactattn.documents.sheets import KEYS as SHEET_KEYS
from exactattn.documents.sheets import SheetMaker
from exactattn.documents.statements import Scope
from exactattn.documents.words import (
    ALGORITHM_WORDS,
    DEFAULT_ALGORITHMS,
    DEFAULT_FORMATS,
    FORMAT_WORDS,
    RESERVED,
    VERSION,
)
from exactattn.documents.yamltext import START, read_yaml
from exactattn.findings import Claim, Expectation, PrintedBlock
from exactattn.numbers.formats import FORMATS

__all__ = ["Case", "load", "loads", "matches"]


@dataclass(frozen=True, slots=True)
class Case:
    """What a case file says.

    problems         by name; "" for the one of `problem:`; none when the case has only claims
    sheets           inputs and formulas by the name of their problem, which may be nothing else
    printed, claims  by the name of their problem; claims that speak about no problem of several are under ""
    path, sha256     where it came from ("-" is standard input) and the digest of its bytes
    """

    version: int
    title: str
    source: Mapping[str, Any] | None
    path: str
    sha256: str
    problems: Mapping[str, Problem]
    sheets: Mapping[str, Sheet]
    printed: Mapping[str, tuple[PrintedBlock, ...]]
    claims: Mapping[str, tuple[Claim, ...]]
    formats: tuple[str, ...]
    algorithms: tuple[str, ...]
    expect: tuple[Expectation, ...]


def load(path: str | Path) -> Case:
    """The case in a file, or on standard input for `-`. Errors: CaseError with every mistake."""
    name = str(path)
    return loads(files.read_bytes(name, Mistakes(name)), name, files.folder_of(name))


def loads(data: bytes | str, path: str = "<text>", folder: str | None = None) -> Case:
    """The case that a text is. Errors: CaseError with every mistake.

    `folder` is where the file lies, and the only folder that files of tensors are read from; None for no folder.
    """
    mistakes = Mistakes(path)
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    root = read_yaml(files.decode(raw, mistakes), mistakes)
    if not isinstance(root, tree.Mapping):
        mistakes.wrong_kind(root, "the keys of a case", START)
        raise mistakes.error()
    check_shape(root, mistakes)
    case = _Case(root, mistakes, folder).read(path, hashlib.sha256(raw).hexdigest())
    if len(mistakes):
        raise mistakes.error()
    return case


@dataclass
class _Case:
    """Reads the parts of one case.

    A problem or a block of printed numbers with mistakes is None, and what belongs to it is still read.
    """

    root: tree.Mapping
    mistakes: Mistakes
    folder: str | None = None
    problems: dict[str, Problem | None] = field(default_factory=dict)
    makers: dict[str, SheetMaker] = field(default_factory=dict)
    blocks: dict[str, dict[str, PrintedBlock | None]] = field(default_factory=dict)

    def read(self, path: str, sha256: str) -> Case:
        self.version()
        reader = Reader(self.mistakes, self.folder)
        self.read_problems(reader)
        printed = self.printed(reader)
        claims = self.claims(reader)
        self.same_names(printed, claims)
        title, source, runs = (self.root.values.get(key) for key in ("title", "source", "runs"))
        expect = [read_expectation(key, node, self.mistakes) for key, node in self.entries("expect")]
        return Case(
            int(VERSION),
            title.text if isinstance(title, Scalar) and title.text.strip() else Path(path).stem,
            tree.plain(source) if isinstance(source, tree.Mapping) else None,
            path,
            sha256,
            {name: problem for name, problem in self.problems.items() if problem is not None},
            {name: maker.sheet for name, maker in self.makers.items() if maker.started},
            {name: tuple(blocks) for name, blocks in printed.items()},
            {name: tuple(group) for name, group in claims.items()},
            self.names_of(runs, "formats", FORMATS, DEFAULT_FORMATS, FORMAT_WORDS),
            self.names_of(runs, "algorithms", ALGORITHMS, DEFAULT_ALGORITHMS, ALGORITHM_WORDS),
            tuple(item for item in expect if item is not None),
        )

    def version(self) -> None:
        node = self.root.values.get("version")
        if isinstance(node, Scalar) and node.text != VERSION:
            hint = f"write `version: {VERSION}`"
            self.mistakes.add(f"found version {quoted(node.text)}, wanted {VERSION}", node, hint)

    def entries(self, key: str) -> Iterable[tuple[Scalar, Node]]:
        """The keys and values of a mapping of the case; a value of another kind is noted as a mistake of the shape."""
        node = self.root.values.get(key)
        return [(node.keys[name], node.values[name]) for name in node.keys] if isinstance(node, tree.Mapping) else []

    def read_problems(self, reader: Reader) -> None:
        one, several = self.root.values.get("problem"), self.root.values.get("problems")
        if one is not None and several is not None:
            self.mistakes.add("found both `problem` and `problems`", self.root.keys["problems"], "keep one of them")
        if one is not None:
            self.read_one("", one, reader)
        if isinstance(several, tree.Mapping) and not several.keys:
            self.mistakes.wrong_kind(several, "at least one problem by name")
        for key, node in self.entries("problems"):
            if not ID.fullmatch(key.text) or key.text in RESERVED:
                hint = f"{ID_WORDS}, and none of {', '.join(RESERVED)}"
                self.mistakes.add(f"found {quoted(key.text)} as the name of a problem", key, f"use {hint}")
            self.read_one(key.text, node, reader)

    def read_one(self, name: str, node: Node, reader: Reader) -> None:
        """One problem: attention, or inputs and formulas, or both."""
        sheet = isinstance(node, tree.Mapping) and any(key in node.values for key in SHEET_KEYS)
        before = len(self.mistakes)
        given = list(node.values) if isinstance(node, tree.Mapping) else []
        attention = "inputs" not in given or any(key in ATTENTION for key in given)
        draws = node.values.get("draws") if isinstance(node, tree.Mapping) else None
        drawn = read_draws(draws, self.mistakes, attention)
        given += [] if "inputs" in given else [key.text for key, _ in drawn]  # beside inputs, drawn ones are inputs
        alone = sheet and not any(key in ATTENTION for key in given)
        if len(self.mistakes) > before:
            self.problems[name] = None
            return
        problem = None if alone else read_problem(node, reader, {key.text: array for key, array in drawn})
        self.problems[name] = problem
        if problem is not None or alone:
            self.makers[name] = SheetMaker(reader, problem)
            if sheet and isinstance(node, tree.Mapping):
                self.makers[name].read(node, drawn)

    def printed(self, reader: Reader) -> dict[str, list[PrintedBlock]]:
        out: dict[str, list[PrintedBlock]] = {name: [] for name in self.problems}
        for full, node in self.entries("printed"):
            prefix, colon, rest = full.text.partition(":")
            key = Scalar(rest, full.place, full.plain) if colon else full
            if not ID.fullmatch(key.text):
                self.mistakes.add(f"found {quoted(key.text)} as a name of printed numbers", key, f"use {ID_WORDS}")
            given = node.values.get("problem") if isinstance(node, tree.Mapping) else None
            owner = Scalar(prefix, full.place) if colon and given is None else given
            name = self.owner(owner, full, needed=True)
            known = name or ""
            block = read_block(key, node, self.problems.get(known), reader, self.makers.get(known))
            if name is None:
                continue
            blocks = self.blocks.setdefault(name, {})
            if key.text in blocks:
                self.mistakes.add(f"two blocks of printed numbers of one problem are named {key.text!r}", full)
            blocks[key.text] = block
            if block is not None:
                out[name].append(block)
        return out

    def claims(self, reader: Reader) -> dict[str, list[Claim]]:
        out: dict[str, list[Claim]] = {name: [] for name in self.problems}
        node = self.root.values.get("claims")
        counts: dict[str, dict[str, int]] = {}
        readings: list[tuple[str, tree.Mapping]] = []
        scopes = {
            name: Scope(self.problems.get(name), self.blocks.get(name, {}), maker.truth if maker.started else None)
            for name, maker in self.makers.items()
        }
        for item in node.items if isinstance(node, tree.Sequence) else ():
            if not isinstance(item, tree.Mapping):
                self.mistakes.mapping(item)
                continue
            given = item.values.get("problem")
            name = self.owner(given, item, needed=False) or ""
            read = read_claim(item, counts.setdefault(name, {}), scopes.get(name), reader)
            if read is None:
                continue
            claim, needs_problem = read
            if needs_problem and name not in self.problems and given is None:
                self.no_problem(item)
            out.setdefault(name, []).append(claim)
            if claim.kind == "reading":
                readings.append((name, item))
        for name, item in readings:
            formulas = {claim.id: claim for claim in out[name] if claim.kind == "formula"}
            check_reading(item, formulas, self.mistakes)
        return out

    def owner(self, given: Node | None, place: Node, needed: bool) -> str | None:
        """The name of the problem that something belongs to; None when it has none, after noting why it should."""
        if given is not None:
            name = self.mistakes.text(given)
            if name is None or (name and name in self.problems):
                return name
            named = [known for known in self.problems if known]
            if not self.problems and self.lost():
                return None
            hint = nearest(name, named) if named else "remove it: the case has no `problems`"
            self.mistakes.add(f"there is no problem named {quoted(name)}", given, hint)
            return None
        if len(self.problems) == 1:
            return next(iter(self.problems))
        if needed:
            self.no_problem(place)
        return None

    def lost(self) -> bool:
        """Has the case a problem that is not read for a mistake noted already: a misspelt key, or a wrong kind?"""
        known = list(CasePart.model_fields)
        near = ("did you mean 'problem'?", "did you mean 'problems'?")
        return any(key in ("problem", "problems") or nearest(key, known) in near for key in self.root.values)

    def no_problem(self, place: Node) -> None:
        if not self.problems and self.lost():
            return
        if self.problems:
            hint = f"add `problem:` with one of {', '.join(self.problems)}"
            self.mistakes.add("the case has several problems, and this names none", place, hint)
        else:
            self.mistakes.add("this needs a problem, and the case has none", place, "add `problem:` with its inputs")

    def same_names(self, printed: dict[str, list[PrintedBlock]], claims: dict[str, list[Claim]]) -> None:
        """Notes every name that stands for two things: no finding could then be called by it."""
        for name, group in claims.items():
            taken = {block.name: "printed numbers" for block in printed.get(name, ())}
            for claim in group:
                if claim.id in taken:
                    message = f"the id {quoted(claim.id)} stands for {taken[claim.id]} already"
                    self.mistakes.add(message, claim.where, "choose another")
                taken[claim.id] = "another claim"

    def names_of(
        self,
        runs: Node | None,
        key: str,
        known: Iterable[str],
        default: tuple[str, ...],
        others: Mapping[str, str],
    ) -> tuple[str, ...]:
        node = runs.values.get(key) if isinstance(runs, tree.Mapping) else None
        if not isinstance(node, tree.Sequence):
            return default
        chosen = [self.mistakes.choice(item, known, f"one of the {key}", others) for item in node.items]
        return tuple(dict.fromkeys(name for name in chosen if name is not None))
