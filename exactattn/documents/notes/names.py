"""Names and words for the inputs and stages of attention, in the spellings and languages that people use."""

from __future__ import annotations

import re

from exactattn.documents.notes.flat import compact, flat
from exactattn.documents.notes.model import Role

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
    "context": "context", "context_vector": "context", "context_vectors": "context", "lse": "lse", "LSE": "lse",
    "query": "q", "queries": "q", "key": "k", "keys": "k", "values": "v", "value": "v", "inputs": "X",
    "input": "X", "embeddings": "X", "X_input": "X",
}  # fmt: skip
# letters that are usual, and could be something else
_USUAL = {
    "x": "X", "E": "scores", "e": "scores", "S": "scores", "s": "scores", "A": "weights", "a": "weights",
    "P": "weights", "p": "weights", "O": "output", "o": "output", "Z": "output", "z": "output", "C": "context",
    "c": "context", "Y": "output", "y": "output", "M": "mask",
}  # fmt: skip
_PROJECTION = re.compile(
    r"[Ww](?:eights?)?[_^]?\(?\{?(?:[(]?)([qkvoQKVO]|query|key|value|out|output)\)?", re.IGNORECASE
)
_INDEXED = re.compile(r"(?P<base>[^\W\d_][\w]*?)(?:_\(?(?P<low>[0-9]{1,3})\)?|\[(?P<code>[0-9]{1,3})(?:,:?)?\])(?:,[:·])?")
_WORDS: tuple[tuple[str, str], ...] = (
    ("W_Q", r"(?:query|Abfrage)[- ]?(?:weight|projection|Gewichts|Projektions)[- ]?(?:matrix|Matrix)?|查询(?:权重|投影)矩阵"),
    ("W_K", r"(?:key|Schlüssel)[- ]?(?:weight|projection|Gewichts|Projektions)[- ]?(?:matrix|Matrix)?|键(?:权重|投影)矩阵"),
    ("W_V", r"(?:value|Werte?)[- ]?(?:weight|projection|Gewichts|Projektions)[- ]?(?:matrix|Matrix)?|值(?:权重|投影)矩阵"),
    ("W_O", r"output[- ](?:weight|projection)(?: matrix)?|Ausgabeprojektion\w*|输出投影矩阵"),
    ("masked", r"masked(?: \w+)? scores?|maskierte\w* \w+|掩码后的?(?:注意力)?分数"),
    ("lse", r"log-?sum-?exps?|logsumexp"),
    ("weights", r"(?:attention|softmax)[- ](?:weights?|probabilities|matrix|distribution|scores after softmax)"
                r"|after (?:the )?softmax|softmax(?: \w+)? (?:output|result|gives|yields)"
                r"|Aufmerksamkeitsgewichte?|Gewichtsmatrix|nach (?:dem |der )?softmax|poids d['’]attention|pesos de atención"
                r"|注意力权重(?:矩阵)?|权重分布|softmax(?:计算)?(?:后的?)?结果|веса внимания|注意重み|가중치"),
    ("scaled", r"scaled(?:[- ](?:dot[- ]products?|attention))?(?: scores?)?|(?:after|nach) (?:the |der )?(?:scaling|Skalierung)"
               r"|skalierte\w*(?: \w+)?|缩放后?的?(?:注意力)?分数|scores mis à l['’]échelle"),
    ("scores", r"(?:raw |unscaled |attention |similarity |dot[- ]product )*scores?|dot[- ]products?|Aufmerksamkeitswerte"
               r"|Skalarprodukte?|Rohwerte|注意力分数|点积|produits? scalaires?"),
    ("output", r"(?:attention |final )?outputs?(?: vectors?| matrix)?|Ausgabe\w*|输出(?:向量|矩阵)?|sorties?|salidas?|выход\w*|出力|출력"),
    ("context", r"context vectors?|Kontextvektor\w*|上下文向量"),
    ("q", r"quer(?:y|ies)(?: (?:vectors?|matrix))?|Abfrage\w*|Query-?\w*|查询(?:向量|矩阵)?|\$Q\$"),
    ("k", r"keys?(?: (?:vectors?|matrix))?|Schlüssel\w*|键(?:向量|矩阵)?|\$K\$"),
    ("v", r"values? (?:vectors?|matrix)|Wertematrix|Wertvektor\w*|值(?:向量|矩阵)|\$V\$"),
    ("X", r"inputs?(?: (?:matrix|vectors?|embeddings?|sequence|tokens?))?|embeddings?|Eingabe\w*|输入(?:矩阵|序列|向量)?|entrées?"),
    ("mask", r"(?:causal |attention )?mask|Maske|掩码(?:矩阵)?"),
)  # fmt: skip
_PATTERN = re.compile(
    "|".join(rf"(?P<g{n}>{pattern})" for n, (_, pattern) in enumerate(_WORDS)), re.IGNORECASE
)
_NUMBERS = {
    0: r"first|erste\w*|第一|第1|1st|premi\w+|primer\w*", 1: r"second|zweite\w*|第二|第2|2nd|deuxième|segund\w*",
    2: r"third|dritte\w*|第三|第3|3rd|troisième|tercer\w*", 3: r"fourth|vierte\w*|第四|第4|4th",
    4: r"fifth|fünfte\w*|第五|第5|5th", 5: r"sixth|sechste\w*|第六|第6|6th",
}  # fmt: skip
_ORDINAL = re.compile("|".join(rf"(?P<n{n}>(?<![a-zA-Z]){pattern})" for n, pattern in _NUMBERS.items()), re.IGNORECASE)
_TOKEN = re.compile(r"(?:tokens?|rows?|words?|positions?|Zeile|Position|quer(?:y|ies)|outputs?|词)\s*#?([0-9]{1,3})(?![0-9.])", re.IGNORECASE)
_OF_TOKEN = re.compile(
    r"\b(?:for|of|to|from|by|für|von|de)\s+(?:the\s+)?(?:\w+\s+)?(?:query|token|word|input|output|position|row)(?:\s*#?[0-9]{1,3})?\b",
    re.IGNORECASE,
)


def role_of(label: str, defined: dict[str, Role] | None = None) -> Role | None:
    """What a left side names, by the document's own definitions first, then by use. None where it is not known."""
    spelled = flat(label)
    if spelled is None:
        return None
    name = compact(spelled).strip("'\"`*:").rstrip(".")
    projection = _PROJECTION.fullmatch(name)
    if projection is not None:
        return Role("W_" + projection[1][0].upper())
    known = _known(name, defined or {})
    if known is not None:
        return known
    indexed = _INDEXED.fullmatch(name)
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
    if len(names) != 1:
        return None
    return Role(names.pop(), row_in_words(text))


def mentioned(text: str) -> set[str]:
    """Everything of attention that words name."""
    return {_WORDS[int(found.lastgroup[1:])][0] for found in _PATTERN.finditer(text) if found.lastgroup}


def row_in_words(text: str) -> int | None:
    """The row that words count, from 0, when they count one: `the third output`, `第三个`, `token 3`."""
    rows = {int(found.lastgroup[1:]) for found in _ORDINAL.finditer(text) if found.lastgroup}
    rows |= {int(found[1]) - 1 for found in _TOKEN.finditer(text) if found[1] != "0"}
    return rows.pop() if len(rows) == 1 else None
