"""What the words of a document say of its problem: a causal mask, identity projections, tokens as columns, a scale.

A sentence that changes the problem is either understood, or it is listed and what depends on it is not judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from exactattn.documents.notes.flat import flat
from exactattn.documents.notes.masking import AFTER, AFTER_MASK, EVERY_STAGE, Unclear
from exactattn.documents.notes.meanings import meaning_of, scale_of
from exactattn.documents.notes.model import Scale
from exactattn.documents.notes.sentences import Sentence, sentences
from exactattn.documents.pasted.found import Piece, pieces
from exactattn.documents.pasted.source import Source
from exactattn.findings import Place

_NOT = re.compile(
    r"\b(?:no|not|non|never|without|don't|doesn't|omit\w*|skip\w*|drop\w*|ohne|kein\w*|nicht|sans|sin)\b|不|没有|无",
    re.IGNORECASE,
)
_CAUSAL = re.compile(
    r"\bcausal(?:ly)?\b|\bkausal\w*|因果|\bautoregressive mask|look-?ahead mask"
    r"|\bmask\w*(?: out)?(?: \w+)? (?:the )?(?:future|later|upcoming|subsequent)"
    r"|\b(?:future|later|subsequent) (?:\w+ )?(?:is|are)(?: \w+)? (?:masked|hidden|blocked|set)"
    r"|(?:not|only|never) (?:look|attend|see)\w*(?: only)?(?: ahead)?(?: at| to)?(?: the)? "
    r"(?:later|future|subsequent|earlier|previous|past|preceding|itself)"
    r"|attends?(?: only)? to(?: only)? \$?j\s?(?:\\leq?|<=|≤|\\leqslant)\s?i"
    r"|(?:Zukunft|spätere\w* (?:Tokens?|Positionen)) (?:\w+ )?(?:masier|maskier|verdeckt|ausgeblendet)\w*"
    r"|maskier\w*(?: \w+){0,2} (?:die )?Zukunft|masque causal|máscara causal|屏蔽未来|遮盖未来",
    re.IGNORECASE,
)
_OTHER_MASK = re.compile(
    r"\bpadding mask|\bmask\w*(?: out)?(?: the)? pad\w*|\bsliding[- ]window|\blocal (?:attention|window)"
    r"|\bblock[- ]sparse"
    r"|\bprefix mask|\bpad tokens? (?:is|are) masked|填充掩码|滑动窗口",
    re.IGNORECASE,
)
_OTHER_KIND = re.compile(
    r"\b(?:sparsemax|entmax|hardmax|softmax1|softmax-1|quiet softmax|linear attention|sigmoid attention|ReLU attention"
    r"|RoPE|rotary|ALiBi|relative position\w*|additive bias|attention bias|position bias|base[- ]2"
    r"|log base 2|powers? of 2"
    r"|grouped[- ]query|additive attention|cosine attention|(?:QK|query-key|q/k)[- ]?norm\w*)\b",
    re.IGNORECASE,
)
_USED = re.compile(r"\b(?:we|our|here|add(?:ed|s)?|appl(?:y|ied|ies)|with|us(?:e|es|ed|ing)|by)\b", re.IGNORECASE)
_DOWN = re.compile(
    r"\bcolumn-?wise softmax|\bsoftmax (?:is (?:taken |applied )?)?(?:over|down|along|of|to|on) (?:the "
    r"|each )?columns?\b"
    r"|\bsoftmax(?: is applied)? (?:column-?wise|column by column)"
    r"|\beach column (?:of \$?[A-Z]\$? )?sums? to (?:1|one)\b",
    re.IGNORECASE,
)
_NAMES = r"W(?:[_^]?\{?\(?[QKV]\)?\}?)"
_SAME = r"[\s$&]*=[\s$&]*"
_ONES = re.compile(rf"{_NAMES}{_SAME}{_NAMES}{_SAME}{_NAMES}{_SAME}(?:\\mathbf\{{I\}}|\\mathbb\{{I\}}|I)(?![A-Za-z])")
_ALL_X = re.compile(
    r"(?<![A-Za-z])(?:(?:\\mathbf\{)?[QKVX]\}?[\s$]*=[\s$]*){3}(?:\\mathbf\{)?[QKVX](?![A-Za-z^_])"
    r"|[qkvx]_\{?(\w)\}?[\s$]*=[\s$]*[qkvx]_\{?\1\}?[\s$]*=[\s$]*[qkvx]_\{?\1\}?[\s$]*=[\s$]*[qkvx]_\{?\1\}?"
)
_NO_PROJECTIONS = re.compile(
    r"\b(?:identity|trivial) (?:weight |attention )?projections?\b|\b(?:no|without(?: any| the)?"
    r"|omit\w* the|skip\w* the) "
    r"(?:learned |linear |weight )?projections?\b|\bprojections? (?:\w+ )?(?:is"
    r"|are) (?:all )?(?:the )?identit(?:y|ies)\b"
    r"|\bohne Projektion\w*|\bkeine Projektion\w*|不(?:使用|用)投影|没有投影",
    re.IGNORECASE,
)
_COLUMNS = re.compile(
    r"\btokens? (?:are|is|form|stand in|go in|as)(?: in)?(?: the)? columns?\b"
    r"|\bcolumns of (?:\$?X\$?|the input(?: matrix)?)(?:, \w+,)? (?:are|is|hold|contain)(?: the)? "
    r"(?:token|word|embedding|position)s?\b|\beach column (?:of \$?X\$? )?(?:is|holds|contains) (?:a|one"
    r"|the) (?:token|word|embedding)"
    r"|\b(?:Tokens?|Wörter) (?:sind|stehen in|bilden)(?: den| die)? Spalten",
    re.IGNORECASE,
)
_TURNED = re.compile(
    r"(?<![A-Za-z])\$?\\?(?:mathbf\{)?Q\}?\s?(?:\^|\.)\s?\{?\\?(?:top|T"
    r"|intercal)\}?\s?[@*]?\s?(?:\\mathbf\{)?K(?![_A-Za-z^])"
)
_BY = re.compile(
    r"(?P<verb>\bdivid(?:e|es|ed|ing)\b|\bscal(?:e|es|ed|ing)\b|\bmultipl(?:y|ies|ied|ying)\b|\bteilen\b|\bgeteilt\b|"
    r"\bdividier\w+|\bskalier\w+|除以)(?P<what>[^.\n]{0,60}?)(?:\b(?:by|durch|mit)\b|(?<=除以))(?: the"
    r"| dem| der| die)?\s*"
    r"(?P<by>\$[^$\n]{1,80}\$|`[^`\n]{1,80}`|(?:square root|Wurzel) (?:of|aus)(?: the| der| dem)? "
    r"(?:\$?d(?:_\{?k\}?)?\$?|key dimension|dimension(?:ality)?(?: of the keys?)?|head (?:size|dimension)|\$?[0-9]+\$?)"
    r"|(?:1/)?(?:np\.|math\.)?sqrt\([\w.]{1,20}\)|(?:1/)?√\(?\w{1,10}\)?|[0-9]+(?:\.[0-9]+)?(?:/[0-9]+)?|[^\s,;:.]+)",
    re.IGNORECASE,
)
_ABOUT_SCORES = re.compile(r"scal|skal|score|logit|product|QK|q_|√|sqrt|\bwe\b|d_|缩放|分数|Wurzel", re.IGNORECASE)
_ABOUT_OTHERS = re.compile(
    r"\bsum|normali|\bexp|Summe|总和|varian|Var\(|would|\bif\b|instead|without|\bsigma|deviation"
    r"|\bheads?\b|\bcost|learning"
    r"|temperature|softmax of|each weight|\bevery\b|total|denominator|Nenner",
    re.IGNORECASE,
)
_UNSCALED = re.compile(
    r"\bunscaled\b|\b(?:no|without(?: any| the)?|skip\w* the|omit\w* the|do not use a) (?:softmax "
    r"|score )?scal(?:e|ing)\b"
    r"|\b(?:do|are) not scaled?\b|\bohne Skalierung|不缩放",
    re.IGNORECASE,
)
_TEMPERATURE = re.compile(
    r"\b(?:temperature|Temperatur)\b(?:[^.\n]|\.(?=[0-9])){0,40}?(?<![0-9.])(?P<value>[0-9]+(?:\.[0-9]+)?)",
    re.IGNORECASE,
)
_CAUSAL_CODE = re.compile(
    r"\b(?:np\.|torch\.|jnp\.)?(?:tril|triu)(?:_indices)?\(|\bis_causal\s*=\s*True|\bcausal\s*=\s*True"
)
_MASK_CODE = re.compile(
    r"\bmasked_fill_?\(|\battn_mask\s*=\s*(?!None)|-\s?(?:np|math|torch)\.inf\b|float\(['\"]-inf['\"]\)"
)
_FORMULAS = re.compile(
    r"\$([^$\n]{3,300})\$|`([^`\n]{3,300})`|(softmax\s?\([^=\n]{2,120}?\)+(?=[\s.,;:]|\Z))", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Said:
    """Something that words say, and where."""

    place: Place
    words: str


@dataclass
class Conditions:
    """What words say of the problems of a document, in order."""

    causal: list[Said] = field(default_factory=list)
    not_causal: list[Said] = field(default_factory=list)
    identity: list[tuple[Place, str]] = field(default_factory=list)
    columns: list[Said] = field(default_factory=list)
    scales: list[Scale] = field(default_factory=list)
    formulas: list[Scale] = field(default_factory=list)  # scales of formulas that stand in a sentence
    down: list[Said] = field(default_factory=list)  # a softmax of columns
    unclear: list[Unclear] = field(default_factory=list)


def conditions(source: Source) -> Conditions:
    """What all sentences say."""
    out = Conditions()
    for sentence in sentences(source):
        for read in (_causal, _kind, _same, _layout, _scale, _formulas, _temperature):
            read(sentence, out)
    for piece in pieces(source):
        if piece.kind == "code":
            _code(source, piece, out)
    return out


def _code(source: Source, piece: Piece, out: Conditions) -> None:
    """A mask that code puts on the scores."""
    found = _CAUSAL_CODE.search(source.text, piece.low, piece.high)
    other = _MASK_CODE.search(source.text, piece.low, piece.high)
    if found is not None:
        out.causal.append(Said(Place(*source.place(found.start())), found[0]))
    elif other is not None:
        place = Place(*source.place(other.start()))
        out.unclear.append(Unclear(AFTER_MASK, f"line {place.line} puts a mask on the scores: '{other[0]}'", place))


def _causal(sentence: Sentence, out: Conditions) -> None:
    found = _CAUSAL.search(sentence.text)
    if found is not None:
        before = sentence.text[max(0, found.start() - 25) : found.start()]
        said = Said(sentence.at(found.start()), sentence.near(found.start()))
        (out.not_causal if _NOT.search(before) else out.causal).append(said)
        return
    other = _OTHER_MASK.search(sentence.text)
    if other is not None and not _NOT.search(sentence.text[: other.start()]):
        place = sentence.at(other.start())
        out.unclear.append(Unclear(AFTER_MASK, f"line {place.line} speaks of '{other[0]}', which is not read", place))


def _kind(sentence: Sentence, out: Conditions) -> None:
    """Another kind of attention that is used, or a softmax of columns where tokens are rows."""
    found = _OTHER_KIND.search(sentence.text)
    if found is not None and _USED.search(sentence.text) and not _NOT.search(sentence.text[: found.start()]):
        place = sentence.at(found.start())
        stages = ("scores", "scaled", *AFTER_MASK)
        out.unclear.append(Unclear(stages, f"line {place.line} speaks of '{found[0]}', which is not read", place))
    down = _DOWN.search(sentence.text)
    if down is not None and not _NOT.search(sentence.text[: down.start()]):
        out.down.append(Said(sentence.at(down.start()), sentence.near(down.start())))


def _same(sentence: Sentence, out: Conditions) -> None:
    for pattern, says in (
        (_ONES, "the projections are the identity"),
        (_NO_PROJECTIONS, "the projections are the identity"),
        (_ALL_X, "Q, K and V are X"),
    ):
        found = pattern.search(sentence.text)
        if found is not None and (pattern is not _ALL_X or len(set("qkvx") - set(found[0].lower())) == 0):
            out.identity.append((sentence.at(found.start()), says))
            return


def _layout(sentence: Sentence, out: Conditions) -> None:
    found = _COLUMNS.search(sentence.text)
    if found is not None and not _NOT.search(sentence.text[: found.start()]):
        out.columns.append(Said(sentence.at(found.start()), sentence.near(found.start())))
    turned = _TURNED.search(sentence.text)
    if turned is not None:
        place = sentence.at(turned.start())
        why = f"line {place.line} multiplies Q^T and K, so tokens are columns and queries are rows"
        out.unclear.append(Unclear(EVERY_STAGE, why, place))


def _scale(sentence: Sentence, out: Conditions) -> None:
    """A scale in words: `we divide by $\\sqrt{2}$`, `scaled by 1/8`, `without scaling`."""
    plain = _UNSCALED.search(sentence.text)
    if plain is not None:
        out.scales.append(Scale("1", sentence.at(plain.start())))
        return
    found = _BY.search(sentence.text)
    if found is None or _ABOUT_OTHERS.search(sentence.text) or not _ABOUT_SCORES.search(sentence.text):
        return
    if _NOT.search(sentence.text[max(0, found.start() - 25) : found.start()]):
        return
    place, by = sentence.at(found.start()), _divisor(found["by"])
    scale = None if by is None else _factor(found["verb"].lower(), by)
    if scale is not None:
        out.scales.append(Scale(scale, place))
        return
    stages = ("scaled", *AFTER_MASK)
    out.unclear.append(Unclear(stages, f"line {place.line} says '{' '.join(found[0].split())}'", place))


def _divisor(by: str) -> str | None:
    """What something is divided by, flat."""
    text = re.split(r"=|≈|\\approx", by.strip("$`"))[0].rstrip(".,;:")
    words = re.match(r"(?:square root|Wurzel) (?:of|aus)(?: the| der| dem)? \$?(?P<of>[^$]+)", text, re.IGNORECASE)
    if words is not None:
        return f"sqrt({words['of']})" if words["of"].isdigit() else "sqrt(d_k)"
    spelled = flat(text)
    return None if spelled is None else spelled.replace(" ", "")


def _factor(verb: str, by: str) -> str | None:
    """The factor on the scores. To scale by a root is to divide by it; by a fraction is to multiply with it."""
    if verb.startswith("mult"):
        return scale_of(by)
    fraction = by.startswith(("1/", "(1)/")) or "^(-" in by or re.fullmatch(r"0?\.[0-9]+|[0-9]+/[0-9]+", by)
    if verb.startswith(("scal", "skal")) and fraction:
        return scale_of(by)
    return scale_of(f"1/({by})")


def _formulas(sentence: Sentence, out: Conditions) -> None:
    """The scales of formulas without an equals sign that stand in a sentence."""
    for found in _FORMULAS.finditer(sentence.text):
        text = next(group for group in found.groups() if group is not None)
        named = re.match(r"\s*\w+\s*=(?!=)", text)
        meaning = meaning_of(text if named is None else text[named.end() :])
        if meaning is not None and re.search(r"\b(?:axis|dim)=", meaning.unclear or ""):
            place = sentence.at(found.start())
            out.unclear.append(Unclear(AFTER["weights"], f"line {place.line} has '{meaning.unclear}'", place))
        if "=" in text:
            continue
        if meaning is not None and meaning.scale is not None and meaning.name != "q":
            out.formulas.append(Scale(meaning.scale, sentence.at(found.start())))


def _temperature(sentence: Sentence, out: Conditions) -> None:
    """A temperature other than 1 that is used, where no formula of the sentence says how."""
    found = _TEMPERATURE.search(sentence.text)
    if found is None or "softmax" in sentence.text.lower() or not re.search(r"[1-9]", found["value"]):
        return
    if found["value"] not in ("1", "1.0"):
        place = sentence.at(found.start())
        out.unclear.append(Unclear(AFTER_MASK[1:], f"line {place.line} speaks of a temperature", place))
