"""A read document -> the YAML of its draft, each part with the line it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from exactattn.documents.notes.examples import Example
from exactattn.documents.notes.model import Block, DraftClaim, Noted
from exactattn.documents.notes.problem import Maker, Parts
from exactattn.documents.notes.recognise import Definitions
from exactattn.documents.notes.writing import Writer, flow, quoted
from exactattn.findings import Place

HEAD = (
    "# A draft of a case, made from a document: complete it, then check it with `exactattn verify FILE`.",
    "# Each part says the line it came from. `assumed` marks what no line states.",
)


@dataclass
class Sheet:
    """Everything that goes into a draft; `dropped` are the blocks, claims and inputs that the case could not read."""

    title: str
    document: str
    examples: list[Example]
    claims: list[DraftClaim]
    defined: Definitions
    identity: tuple[Place, str] | None
    noted: list[Noted]
    dropped: set[int] = field(default_factory=set)
    left_inputs: set[tuple[str, Place]] = field(default_factory=set)


@dataclass
class CaseText:
    """Writes one draft."""

    sheet: Sheet
    out: Writer = field(default_factory=Writer)
    noted: list[Noted] = field(default_factory=list)
    parts: dict[str, Parts] = field(default_factory=dict)

    def write(self) -> Writer:
        """The whole text."""
        sheet, out = self.sheet, self.out
        for line in HEAD:
            out.add(line)
        out.add("version: 1")
        out.add(f"title: {quoted(sheet.title)}")
        out.add(f"source: {flow({'document': sheet.document})}")
        named: dict[str, Example] = {}
        for example in sheet.examples:
            if self._has_problem(example):
                name = self._name(example)
                named[name if name not in named else f"{name}_{len(named) + 1}"] = example
        self._problems(named)
        self._printed(named)
        self._claims()
        if not any(parts.inputs_of_formulas for parts in self.parts.values()) and self.parts:
            out.add("")
            out.add("runs: {formats: [float64, float32], algorithms: [naive, shifted, online]}")
        return out

    def _has_problem(self, example: Example) -> bool:
        return bool(example.printed or example.inputs)

    def _name(self, example: Example) -> str:
        return f"example_line_{example.first.line}" if len(self.sheet.examples) > 1 else ""

    def _problems(self, named: Mapping[str, Example]) -> None:
        out = self.out
        if not named:
            return
        out.add("")
        if "" not in named:
            out.add("problems:")
        for name, example in named.items():
            maker = Maker(example, self.sheet.defined, self.sheet.identity, self.sheet.left_inputs)
            parts = self.parts[name] = maker.make()
            self.noted += parts.noted
            indent = "  " if not name else "    "
            key = "problem" if not name else f"  {name}"
            if parts.nothing:
                out.comment("" if not name else "  ", "no line gives what the printed numbers are made from")
                out.add(f"{key}: {{inputs: {{}}}}", example.first)
                continue
            out.add(f"{key}:", example.first, parts)
            self._inputs(parts, indent)

    def _inputs(self, parts: Parts, indent: str) -> None:
        out = self.out
        if parts.inputs_of_formulas:
            out.add(f"{indent}inputs:")
            indent += "  "
        for key, block, rounded in parts.blocks:
            self._about(indent, block)
            self._matrix(indent, key, block, rounded)
        for key, text, place, why in parts.texts:
            out.comment(indent, why)
            out.add(f"{indent}{key}: {text}", place, (key, place))
        if parts.steps:
            indent = indent[:-2]
            out.add(f"{indent}steps:")
            for key, text in parts.steps.items():
                out.add(f"{indent}  {key}: {quoted(text)}")

    def _matrix(self, indent: str, key: str, block: Block, rounded: bool) -> None:
        options = {"times": block.pasted.times} if block.pasted.times else {}
        options |= {"rounded": "true"} if rounded else {}
        flat = block.pasted.vector and (rounded or key.islower()) and key != "mask"
        head = f"{indent}{key}: " + (
            "{" + "".join(f"{k}: {quoted(v)}, " for k, v in options.items()) + "values: " if options else ""
        )
        self.out.numbers(head, block.pasted.rows, flat, "}" if options else "", block)

    def _about(self, indent: str, block: Block) -> None:
        lines = (
            f"line {block.place.line}" if block.end <= block.place.line else f"lines {block.place.line} to {block.end}"
        )
        self.out.comment(
            indent, f"{lines}: by {block.by}" + ("" if block.role.sure else "; assumed: the letter is usual for it")
        )

    def _printed(self, named: Mapping[str, Example]) -> None:
        taken: set[str] = set()
        begun = False
        for name, example in named.items():
            parts = self.parts[name]
            for block in example.printed:
                if id(block) in parts.used or id(block) in self.sheet.dropped or parts.withholds(block):
                    continue
                if not begun:
                    self.out.add("")
                    self.out.add("printed:")
                    begun = True
                self._block(block, name, parts, taken)

    def _block(self, block: Block, problem: str, parts: Parts, taken: set[str]) -> None:
        stage, pasted = block.role.name, block.pasted
        of = parts.of.get(id(block))
        plain = f"{problem}:{stage}" in taken or block.role.row is not None or of is not None
        name = next(one for one in _names(stage, block.place.line, plain) if f"{problem}:{one}" not in taken)
        taken.add(f"{problem}:{name}")
        options: dict[str, str] = {} if name == stage else {"stage": stage}
        if of is not None:
            options = {"of": of}
        elif parts.nothing or (parts.inputs_of_formulas and stage not in parts.steps):
            options = {"missing": "what it is made from is not given", "stage": stage}
        elif block.role.row is not None:
            options["rows"] = f"[{block.role.row}]"
        options |= {"times": pasted.times} if pasted.times else {}
        options |= {"dtype": pasted.dtype} if pasted.dtype in ("float32", "float64") else {}
        options |= {"form": pasted.trims} if pasted.trims in ("numpy", "r", "spreadsheet") else {}
        self._about("  ", block)
        key = name if not problem else quoted(f"{problem}:{name}")
        inside = "".join(f"{k}: {v if k == 'rows' else quoted(v)}, " for k, v in options.items())
        flat = pasted.vector and (parts.inputs_of_formulas or block.role.row is None)
        head = f"  {key}: " + (f"{{{inside}values: " if options else "")
        self.out.numbers(head, pasted.rows, flat, "}" if options else "", block)

    def _claims(self) -> None:
        claims = [claim for claim in self.sheet.claims if id(claim) not in self.sheet.dropped]
        if not claims:
            return
        self.out.add("")
        self.out.add("claims:")
        taken: set[str] = set()
        for claim in claims:
            id_ = next(one for one in _names("", claim.place.line, True) if one not in taken)
            taken.add(id_)
            if claim.assumed:
                self.out.comment("  ", f"assumed: {claim.assumed}")
            fields = {"id": id_, **claim.fields, "cites": f"line {claim.place.line}"}
            self.out.add(f"  - {flow(fields)}", claim.place, claim)


def _names(stage: str, line: int, again: bool) -> Iterator[str]:
    """Names for what stands on a line: of the first print of a stage its own."""
    if not again:
        yield stage
    base = f"{stage}_line_{line}" if stage else f"line_{line}"
    yield base
    for number in range(2, 10_000):
        yield f"{base}_{number}"
