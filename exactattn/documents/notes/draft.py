"""A Markdown or LaTeX document -> Draft. What the case format cannot read is left out and listed, with the reason."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import Any

from exactattn.documents.case import loads
from exactattn.documents.nodes import Mistakes
from exactattn.documents.notes.aliases import aliases
from exactattn.documents.notes.asides import unread_claims
from exactattn.documents.notes.casetext import CaseText, Sheet
from exactattn.documents.notes.conditions import conditions
from exactattn.documents.notes.environments import mismatched
from exactattn.documents.notes.equations import equations_of, is_of_one_element
from exactattn.documents.notes.examples import examples_by_section, with_rows
from exactattn.documents.notes.formulas import formula_of
from exactattn.documents.notes.masking import AFTER, EVERY_STAGE, Unclear, with_masks
from exactattn.documents.notes.model import Block, Draft, DraftClaim, Noted
from exactattn.documents.notes.prose import told_weights
from exactattn.documents.notes.recognise import Definitions, Recogniser, definitions, sized, unscaled
from exactattn.documents.notes.sections import sections
from exactattn.documents.notes.statements import Statement, statements
from exactattn.documents.notes.words import claims_in_words
from exactattn.documents.pasted import Found, PastedError, find_pasted
from exactattn.documents.pasted.source import Source
from exactattn.errors import CaseError, Mistake
from exactattn.findings import Place

_PROJECTIONS = re.compile(r"W[_^]|投影|权重矩阵|projection|projektion", re.IGNORECASE)
MOST_STATEMENTS, MOST_CLAIMS, MOST_EXAMPLES = 1_000, 300, 20
MOST_ROUNDS = 20  # of leaving out what cannot be read
_COMMA, _POINT = re.compile(r"[0-9]\{?,\}?[0-9]"), re.compile(r"[0-9]\.[0-9]")
_SCALE = re.compile(r"scal|skal|sqrt|√|缩放|échelle|escal|масштаб|スケール|d_k", re.IGNORECASE)
_INPUT = re.compile(r"\b(W_[QKVO]|mask|Q|K|V|X)\b")
_IDENTITY = re.compile(
    r"(?:identity matri(?:x|ces)|单位矩阵|單位矩陣|Einheitsmatri(?:x|zen)|matrices? identité|matriz identidad)",
    re.IGNORECASE,
)


def read_notes(text: str, path: str = "<text>") -> Draft:
    """The draft of a document. Errors: CaseError when nothing of it is recognised, or it is too long."""
    mistakes = Mistakes(path)
    try:
        source = Source(text)
        found, unread, comma = _found(text)
    except PastedError as error:
        mistakes.stop(str(error.mistake.message), Place(error.line, error.column), "give the part that is to be judged")
    known = list(islice(statements(source, comma), MOST_STATEMENTS + 1))
    sheet = _sheet(source, path, found, known[:MOST_STATEMENTS], comma)
    if len(known) > MOST_STATEMENTS:
        why = f"at most {MOST_STATEMENTS} are read; give the part that is to be judged"
        sheet.noted.append(Noted(known[-1].place, "the equations from here on", why, understood=False))
    sheet.noted += [Noted(Place(one.line, one.column), "numbers", _hinted(one.mistake), False) for one in unread]
    if not (sheet.claims or any(example.printed or example.inputs for example in sheet.examples)):
        seen = "; ".join(str(noted) for noted in sheet.noted[:3])
        hint = (
            "it needs matrices or equations with names, such as Q, K, V, weights, output; or give a case, a YAML file"
        )
        mistakes.stop(f"nothing of attention is recognised in this document{': ' if seen else ''}{seen}", None, hint)
    return _fitted(sheet, mistakes)


def _found(text: str) -> tuple[tuple[Found, ...], list[PastedError], bool]:
    """The blocks, what could not be read, and whether commas are decimal: where any block shows it, in all of them."""
    unread = list[PastedError]()
    found = find_pasted(text, mistakes=unread)
    if not _has_decimal_commas(found):
        return found, unread, False
    unread = []
    return find_pasted(text, "comma", unread), unread, True


def _sheet(source: Source, path: str, found: tuple[Found, ...], known: list[Statement], comma: bool) -> Sheet:
    defined = definitions(known, conditions(source))
    defined.speaks_of_scale = _SCALE.search(source.text) is not None or "softmax" not in source.text.lower()
    claims, noted, claimed = _stated(known, defined, comma)
    reader = Recogniser(source, known, defined, claimed, _counts_from_zero(found))
    reader.read(found)
    plain = unscaled(reader.blocks, found)
    if plain is not None and not defined.scales:
        defined.scales.append(plain)
    _settle_words(defined)
    if any(block.role.name == "W_O" for block in reader.blocks):
        reader.blocks = [_before_projection(block) for block in reader.blocks]
    reader.blocks += aliases(reader.blocks, known)
    reader.blocks, masks, unclear = with_masks(reader.blocks, found, known, source.text)
    noted += masks
    defined.words.unclear += unclear
    claims, unmasked = _without_mask(claims, defined, reader.blocks)
    noted += unmasked
    reader.blocks += told_weights(source, "comma" if comma else None)
    reader.blocks.sort(key=lambda block: (block.place.line, block.place.column))
    claims += claims_in_words(source, _scaled_by(claims, reader.blocks))
    noted += mismatched(source)
    noted += unread_claims(reader.sentences, claims)
    claims = _bounded(_once(claims), MOST_CLAIMS, "claims", noted)
    blocks, rows = with_rows(reader.blocks)
    parts, assumed = examples_by_section(blocks, sections(source, blocks))
    parts = _bounded(parts, MOST_EXAMPLES, "examples", noted)
    lost = {one.place for one in assumed if not one.understood}
    noted += [*reader.noted, *assumed, *rows, *(_understood(block) for block in blocks if block.place not in lost)]
    noted += [_claim_noted(claim) for claim in claims]
    return Sheet(_title(source, path), PurePath(path).name, parts, claims, defined, _identity(defined, source), noted)


def _stated(
    known: list[Statement], defined: Definitions, comma: bool
) -> tuple[list[DraftClaim], list[Noted], set[int]]:
    """The claims that equations and formulas make, what of them was not understood, and where equations begin."""
    claims, noted, claimed = list[DraftClaim](), list[Noted](), set[int]()
    for statement in known:
        equations, left = equations_of(statement, comma)
        if equations:
            claimed.add(statement.low)
        claims += [DraftClaim({"equation": text}, statement.place) for text in equations]
        noted += [Noted(statement.place, "an equation", why, understood=False) for why in left]
        formulas, unread = formula_of(statement, defined)
        claims += formulas
        noted += unread
        if not (equations or left or formulas or unread) and is_of_one_element(statement, comma):
            says = "one element of a stage by its own formula is not judged"
            noted.append(Noted(statement.place, f"the equation {statement.text[:100]}", says, understood=False))
    return claims, noted, claimed


def _without_mask(
    claims: list[DraftClaim], defined: Definitions, blocks: list[Block]
) -> tuple[list[DraftClaim], list[Noted]]:
    """The claims without formulas of a softmax that leave the mask to the words or numbers beside them."""
    masks = [said.place.line for said in defined.words.causal]
    masks += [block.place.line for block in blocks if block.role.name in ("mask", "masked")]
    kept, noted = list[DraftClaim](), list[Noted]()
    for claim in claims:
        text = str(claim.fields.get("formula", ""))
        if masks and "softmax" in text and "mask" not in text.lower() and "causal" not in text.lower():
            why = f"it does not show the mask that line {min(masks)} tells of"
            noted.append(Noted(claim.place, f"the formula {text[:120]}", why, understood=False))
        else:
            kept.append(claim)
    return kept, noted


def _before_projection(block: Block) -> Block:
    """What weights and values make is the output only where no W_O comes after."""
    makes = block.derived and block.role.name == "output"
    return replace(block, role=replace(block.role, name="context")) if makes else block


def _settle_words(defined: Definitions) -> None:
    """Takes over what sentences say: a scale, where no formula states one; tokens as columns."""
    words = defined.words
    defined.scales += [scale for scale, on in words.formulas if on not in defined.softmax_of]
    if words.scales and not defined.scales:
        defined.scales += words.scales
    if defined.scales:
        words.unclear = [one for one in words.unclear if "scaled" not in one.stages or "q" in one.stages]
    for said in words.down if defined.matrices_turned is None and not words.columns else ():
        why = f"line {said.place.line} says '{said.words}', and tokens are rows"
        words.unclear.append(Unclear(AFTER["weights"], why, said.place))
    for name, formula, place in defined.foreign:
        why = f"line {place.line} makes {name} by '{formula[:60]}', which is not understood"
        words.unclear.append(Unclear(AFTER.get(name, EVERY_STAGE), why, place))
    for said in words.columns:
        if defined.rows is not None:
            why = f"line {said.place.line} says '{said.words}', and line {defined.rows.line} has tokens as rows"
            words.unclear.append(Unclear(EVERY_STAGE, why, said.place))
        defined.matrices_turned = defined.matrices_turned or said.place
        defined.columns = defined.columns or said.place


def _bounded(items: list[Any], most: int, what: str, noted: list[Noted]) -> list[Any]:
    """The first of many; that there are more is noted."""
    if len(items) > most:
        place = items[most].place if what == "claims" else items[most].first
        why = f"at most {most} are read; give the part that is to be judged"
        noted.append(Noted(place, f"the {what} from here on", why, understood=False))
    return items[:most]


def _once(claims: list[DraftClaim]) -> list[DraftClaim]:
    """The claims in the order of the document; one that is said again is kept where it was said first."""
    claims = sorted(claims, key=lambda claim: (claim.place.line, claim.place.column))
    seen: set[str] = set()
    out = []
    for claim in claims:
        text = str({key: value for key, value in claim.fields.items() if key != "says"})
        if text not in seen:
            out.append(claim)
        seen.add(text)
    return out


def _scaled_by(claims: list[DraftClaim], blocks: list[Block]) -> str | None:
    """What a scale told in words is held against: the formula of the scaled scores, or the stage."""
    for claim in claims:
        text = str(claim.fields.get("formula", ""))
        if re.search(r"K[^=]*\^", text) and "sqrt" in text and "softmax" not in text and "exp" not in text:
            return text
    return "scaled" if any(block.role.name in ("q", "X", "W_Q") for block in blocks) else None


def _understood(block: Block) -> Noted:
    row = "" if block.role.row is None else f", row {block.role.row}"
    found = Found(block.place.line, block.end, None, block.pasted)
    return Noted(block.place, f"{sized(found)} are {block.role.name}{row}", f"by {block.by}", True, not block.role.sure)


def _claim_noted(claim: DraftClaim) -> Noted:
    kind = next(iter(claim.fields))
    return Noted(claim.place, f"a claim of the kind {kind}", str(claim.fields[kind])[:200], True, claim=True)


def _fitted(sheet: Sheet, mistakes: Mistakes) -> Draft:
    """The draft, after what the case format cannot read was left out."""
    for _ in range(MOST_ROUNDS):
        text = CaseText(sheet)
        out = text.write()
        try:
            loads(out.text)
        except CaseError as error:
            if not _leave_out(sheet, text, error.mistakes):
                break
            continue
        withheld = [one for parts in text.parts.values() for one in parts.withheld]
        taken = {_understood(block) for block, _ in withheld}
        kept = [one for one in sheet.noted if one not in taken]
        kept += [Noted(block.place, _understood(block).what, f"not judged: {why}", False) for block, why in withheld]
        noted = sorted((*kept, *text.noted), key=lambda one: (one.place.line, one.place.column))
        return Draft(out.text, tuple(dict.fromkeys(noted)), out.places, out.owners)
    hint = "write the case by hand: `exactattn new FILE` gives a template"
    raise CaseError(mistakes.path, [Mistake("the parts of this document do not fit together", None, None, hint)])


def _leave_out(sheet: Sheet, text: CaseText, found: tuple[Mistake, ...]) -> bool:
    """Leaves out what has a mistake; says whether there was anything."""
    before = len(sheet.dropped) + len(sheet.left_inputs)
    for mistake in found:
        key = text.out.keys.get(mistake.line or 0)
        if isinstance(key, Block):
            _drop_block(sheet, text, key, mistake.message)
        elif isinstance(key, DraftClaim):
            sheet.dropped.add(id(key))
            sheet.noted = [one for one in sheet.noted if one != _claim_noted(key)]
            sheet.noted.append(Noted(key.place, _claim_noted(key).what, mistake.message, False))
        else:
            _drop_input(sheet, text, mistake.message)
    return len(sheet.dropped) + len(sheet.left_inputs) > before


def _drop_block(sheet: Sheet, text: CaseText, block: Block, why: str) -> None:
    is_input = any(block is one for parts in text.parts.values() for _, one, _ in parts.blocks)
    if is_input:
        sheet.left_inputs.add((block.role.name, block.place))
    else:
        sheet.dropped.add(id(block))
    sheet.noted = [one for one in sheet.noted if one != _understood(block)]
    sheet.noted.append(Noted(block.place, _understood(block).what, why, False))


def _drop_input(sheet: Sheet, text: CaseText, why: str) -> None:
    """Leaves out the input that a mistake of the whole problem names last, or the last there is."""
    blocks = [(key, block) for parts in text.parts.values() for key, block, _ in parts.blocks]
    named = [name for name in _INPUT.findall(why) if name not in ("X",)]
    chosen = [block for key, block in blocks if key in named[-1:]] or [block for _, block in blocks[-1:]]
    for block in chosen:
        _drop_block(sheet, text, block, why)


def _identity(defined: Definitions, source: Source) -> tuple[Place, str] | None:
    """Where the document says that Q, K and V are X, or that the projections are the identity, and which it says."""
    if defined.words.identity:
        return defined.words.identity[0]
    for found in _IDENTITY.finditer(source.text):
        around = source.text[max(0, found.start() - 200) : found.end() + 200]
        if _PROJECTIONS.search(around):
            return Place(*source.place(found.start())), "the projections are the identity"
    return None


def _has_decimal_commas(found: tuple[Found, ...]) -> bool:
    """Do the blocks that could be read show decimal commas, and no decimal points?"""
    texts = [cell.text for one in found for row in one.pasted.rows for cell in row if cell.said is not None]
    return any(map(_COMMA.search, texts)) and not any(map(_POINT.search, texts))


def _counts_from_zero(found: tuple[Found, ...]) -> bool:
    return any(re.search(r"_\{?0\}?\Z", one.label) for one in found if one.label)


def _title(source: Source, path: str) -> str:
    heading = re.search(r"^#{1,6}\s+(.+)$|\\(?:section|title|chapter)\*?\{([^{}\n]+)\}", source.text, re.MULTILINE)
    words = "" if heading is None else (heading[1] or heading[2]).strip(" #*")
    first = next((source.text[slice(*line)] for line in source.lines(0, len(source.text))), "")
    return (words or first.strip("#* $"))[:80] or PurePath(path).stem


def _hinted(mistake: Mistake) -> str:
    return mistake.message + (f" ({mistake.hint})" if mistake.hint else "")


__all__ = ["Definitions", "read_notes"]
