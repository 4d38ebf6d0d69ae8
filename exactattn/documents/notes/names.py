"""Names and words for the inputs and stages of attention, in the spellings and languages that people use."""

from __future__ import annotations

import re

from exactattn.documents.notes.flat import compact, flat
from exactattn.documents.notes.model import Role
from exactattn.documents.notes.prompts import without_prompt
from exactattn.documents.notes.wordlist import UNCLEAR, mentioned, row_in_words

INPUTS = ("X", "W_Q", "W_K", "W_V", "W_O", "mask")
# symbols that say what they are
_SURE = {
    "X": "X", "Q": "q", "K": "k", "V": "v", "q": "q", "k": "k", "v": "v",
    "QK^T": "scores", "scores": "scores", "attention_scores": "scores", "attn_scores": "scores",
    "scaled": "scaled", "scaled_scores": "scaled", "scores_scaled": "scaled", "scaled_attention_scores": "scaled",
    "masked": "masked", "masked_scores": "masked", "scores_masked": "masked", "mask": "mask",
    "weights": "weights", "attention_weights": "weights", "attn_weights": "weights", "alpha": "weights", "α": "weights",
    "probs": "weights", "attention_probs": "weights", "attn_probs": "weights", "attn_weight": "weights",
    "output": "output", "outputs": "output", "out": "output", "attn_output": "output", "attention_output": "output",
    "context": "context", "head": "context",
    "context_vector": "context", "context_vectors": "context", "lse": "lse", "LSE": "lse",
    "query": "q", "queries": "q", "key": "k", "keys": "k", "values": "v", "value": "v", "inputs": "X",
    "input": "X", "embeddings": "X", "X_input": "X",
}  # fmt: skip
# letters that are usual, and could be something else
_USUAL = {
    "x": "X", "E": "scores", "e": "scores", "S": "scores", "s": "scores", "A": "weights", "a": "weights",
    "P": "weights", "p": "weights", "O": "output", "o": "output", "Z": "output", "z": "output", "C": "context",
    "c": "context", "Y": "output", "y": "output", "M": "mask",
}  # fmt: skip
_HEAD = r"[_^,]?\(?(?:head|h)?[,_]?([0-9]{1,2})\)?"
_PROJECTION = re.compile(
    rf"[Ww](?:eights?)?(?:{_HEAD})?[_^]?\(*([qkvoQKVO]|query|key|value|out|output)\)?(?:{_HEAD})?\)?", re.IGNORECASE
)
_INDEXED = re.compile(
    r"(?P<base>[^\W\d_][\w]*?)(?:_\(?(?P<low>[0-9]{1,3})\)?|\[(?P<code>[0-9]{1,3})(?:,:?)?\])(?:,[:·])?"
)
_OF_TOKEN = re.compile(
    r"\b(?:for|of|to|from|by|für|von|de)\s+(?:the\s+)?(?:\w+\s+)?"
    r"(?:query|token|word|input|output|position|row)(?:\s*#?[0-9]{1,3})?\b",
    re.IGNORECASE,
)


def role_of(label: str, defined: dict[str, Role] | None = None) -> Role | None:
    """What a left side names, by the document's own definitions first, then by use. None where it is not known."""
    spelled = flat(without_prompt(label))
    if spelled is None:
        return None
    name = compact(spelled).strip('"`*:').lstrip("'").rstrip(".")
    if name.count("'") == 1 and label.strip().startswith("'"):
        name = name.rstrip("'")
    projection = _PROJECTION.fullmatch(name)
    if projection is not None:
        head = projection[1] or projection[3]
        return Role("W_" + projection[2][0].upper(), head=None if head is None else int(head))
    known, indexed = _known(name, defined or {}), _INDEXED.fullmatch(name)
    if known is not None and (indexed is None or _known(indexed["base"], defined or {}) is None):
        return known
    if indexed is not None:
        known = _known(indexed["base"], defined or {})
        if known is not None:
            code = indexed["code"]
            row = int(code) if code is not None else int(indexed["low"]) - 1
            return Role(known.name, row, known.sure) if row >= 0 else None
    return role_in_words(spelled)


def _known(name: str, defined: dict[str, Role]) -> Role | None:
    if name in defined:
        return defined[name]
    sure = _SURE.get(name) or (_SURE.get(name.lower()) if len(name) > 1 else None)
    if sure is not None:
        return Role(sure)
    return Role(_USUAL[name], sure=False) if name in _USUAL else None


def role_in_words(text: str) -> Role | None:
    """What words name, when they name one thing; and which row, where they count it."""
    names = mentioned(_OF_TOKEN.sub(" ", text))
    if len(names) > 1 and "scaled" in names:
        names.discard("scores")
    if len(names) != 1 or UNCLEAR in names:
        return None
    return Role(names.pop(), row_in_words(text))
