"""The words that people use for the inputs and stages of attention, as patterns; the earlier of two that fit counts."""

from __future__ import annotations

import re

_PROJECTED = r"(?:weight|projection|Gewichts|Projektions)[- ]?(?:matrix|Matrix)?"
UNCLEAR = "?"  # words that say what something is not yet
WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (UNCLEAR, (r"\bexponentiat\w*", r"\bexponentials?\b", r"\bsubtract\w*", r"\bgradients?\b", r"\bderivatives?\b")),
    (UNCLEAR, (r"\bdifferences?\b", r"\btransposed?\b", r"\bsquared\b", r"\b(?:exponenziert|abgezogen|Differenz)\b")),
    (UNCLEAR, (r"(?:before|vor|into|prior to) (?:the |dem |der )?softmax", r"softmax[- ]inputs?")),
    ("W_Q", (rf"(?:query|Abfrage)[- ]?{_PROJECTED}", "查询(?:权重|投影)矩阵")),
    ("W_K", (rf"(?:key|Schlüssel)[- ]?{_PROJECTED}", "键(?:权重|投影)矩阵")),
    ("W_V", (rf"(?:value|Werte?)[- ]?{_PROJECTED}", "值(?:权重|投影)矩阵")),
    ("W_O", (r"output[- ](?:weight|projection)(?: matrix)?", r"Ausgabeprojektion\w*", "输出投影矩阵")),
    ("masked", (r"masked(?: \w+)? scores?", r"maskierte\w* \w+", "掩码后的?(?:注意力)?分数")),
    ("lse", ("log-?sum-?exps?", "logsumexp")),
    (
        "weights",
        (
            r"(?:attention|softmax)[- ](?:weights?|probabilities|matrix|distribution|scores after softmax)",
            r"after (?:the )?softmax",
            r"softmax(?: function)?(?: (?:of|to|over|on))?(?: (?:the|these|those|each|our))?"
            r"(?: (?:scaled|raw|masked|attention))*(?: (?:scores?|rows?|logits?|values?))?",
            r"Aufmerksamkeitsgewichte?",
            r"Gewichtsmatrix",
            r"nach (?:dem |der )?softmax",
            r"poids d['’]attention",
            "pesos de atención",
            r"weights\b(?! matri)",
            "注意力权重(?:矩阵)?",
            "权重分布",
            "softmax(?:计算)?(?:后的?)?结果",
            "веса внимания",
            "注意重み",
            "가중치",
        ),
    ),
    (
        "scaled",
        (
            r"scaled(?:[- ](?:dot[- ]products?|attention))?(?: scores?)?",
            r"(?:after|nach) (?:the |der )?(?:scaling|Skalierung)",
            r"skalierte\w*(?: \w+)?",
            "缩放后?的?(?:注意力)?分数",
            r"scores mis à l['’]échelle",
        ),
    ),
    (
        "scores",
        (
            r"(?:raw |unscaled |attention |similarity |dot[- ]product )*scores?",
            r"dot[- ]products?",
            "Aufmerksamkeitswerte",
            "Skalarprodukte?",
            "Rohwerte",
            "注意力分数",
            "点积",
            "produits? scalaires?",
        ),
    ),
    (
        "output",
        (
            r"(?:attention |final )?outputs?(?: vectors?| matrix)?",
            r"Ausgabe\w*",
            "输出(?:向量|矩阵)?",
            *("sorties?", "salidas?", r"выход\w*", "出力", "출력"),
        ),
    ),
    ("context", (r"context vectors?", r"Kontextvektor\w*", "上下文向量")),
    ("q", (r"quer(?:y|ies)(?: (?:vectors?|matrix))?", r"Abfrage\w*", r"Query-?\w*", "查询(?:向量|矩阵)?", r"\$Q\$")),
    ("k", (r"keys?(?: (?:vectors?|matrix))?", r"Schlüssel\w*", "键(?:向量|矩阵)?", r"\$K\$")),
    (
        "v",
        (
            r"\A\W*(?:the |our )?values\W*\Z",
            r"values? (?:vectors?|matrix)",
            "Wertematrix",
            r"Wertvektor\w*",
            "值(?:向量|矩阵)",
            r"\$V\$",
        ),
    ),
    (
        "X",
        (
            r"inputs?(?: (?:matrix|vectors?|embeddings?|sequence|tokens?))?",
            *("embeddings?", r"Eingabe\w*", "输入(?:矩阵|序列|向量)?", "entrées?"),
        ),
    ),
    ("mask", (r"(?:causal |attention )?mask", "Maske", "掩码(?:矩阵)?")),
)
ORDINALS = (
    ("first", r"erste\w*", "第一", "第1", "1st", r"premi\w+", r"primer\w*"),
    ("second", r"zweite\w*", "第二", "第2", "2nd", "deuxième", r"segund\w*"),
    ("third", r"dritte\w*", "第三", "第3", "3rd", "troisième", r"tercer\w*"),
    ("fourth", r"vierte\w*", "第四", "第4", "4th"),
    ("fifth", r"fünfte\w*", "第五", "第5", "5th"),
    ("sixth", r"sechste\w*", "第六", "第6", "6th"),
)
_PATTERN = re.compile(
    "|".join(f"(?P<g{number}>{'|'.join(patterns)})" for number, (_, patterns) in enumerate(WORDS)), re.IGNORECASE
)
_ORDINAL = re.compile(
    "|".join(f"(?P<n{number}>(?<![a-zA-Z])(?:{'|'.join(words)}))" for number, words in enumerate(ORDINALS)),
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?:tokens?|rows?|words?|positions?|Zeile|Position|quer(?:y|ies)|outputs?|词)\s*#?([0-9]{1,3})(?![0-9.])",
    re.IGNORECASE,
)
_ROW = re.compile(r"[-*+ ]*(?:tokens?|rows?|words?|positions?|Zeile|Position|词)\s*#?[0-9]{1,3}\W*", re.IGNORECASE)


def counts_a_row(label: str) -> bool:
    """Is a label but the number of a token: `Token 2`, `词 1`?"""
    return _ROW.fullmatch(label) is not None


def mentioned(text: str) -> set[str]:
    """Everything of attention that words name."""
    return {WORDS[int(found.lastgroup[1:])][0] for found in _PATTERN.finditer(text) if found.lastgroup}


def row_in_words(text: str) -> int | None:
    """The row that words count, from 0, when they count one: `the third output`, `第三个`, `token 3`."""
    rows = {int(found.lastgroup[1:]) for found in _ORDINAL.finditer(text) if found.lastgroup}
    rows |= {int(found[1]) - 1 for found in _TOKEN.finditer(text) if found[1] != "0"}
    return rows.pop() if len(rows) == 1 else None
