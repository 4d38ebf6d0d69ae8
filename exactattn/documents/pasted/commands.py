"""The LaTeX commands that may stand in a number, and what they say there; any other is a mistake."""

from __future__ import annotations

SPACES = (",", ";", ":", "!", " ", ">", "quad", "qquad", "enspace", "thinspace", "displaystyle", "textstyle", "hfill")
DROPPED = (
    *("left", "right", "middle", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "limits", "bf", "rm"),
    *("nonumber", "notag", "relax", "scriptstyle", "small", "large", "normalsize"),
)
WRAPPERS = (
    *("text", "mathrm", "mathbf", "boldsymbol", "textbf", "mathit", "textit", "boxed", "underline", "emph", "bm"),
    *("mathsf", "mathtt", "texttt", "operatorname", "fbox", "mbox", "ensuremath", "overline", "underbrace", "num"),
)
SECOND = ("textcolor", "colorbox", "color")  # the first argument is a colour
GONE = ("phantom", "hphantom", "vphantom", "label", "tag")
FRACTIONS = ("frac", "dfrac", "tfrac", "cfrac")
SIGNS = {
    **dict.fromkeys(("cdot", "times", "ast"), "*"),
    "div": "/",
    "pm": "±",
    "%": "%",
    "infty": "∞",
    "pi": "pi",
    "&": "&",
    "#": "#",
    "$": "$",
    "lbrace": "{",
    **dict.fromkeys(("approx", "simeq", "cong", "approxeq", "doteq"), "≈"),
    "sim": "~",
    "lt": "<",
    "gt": ">",
    "le": "<=",
    "leq": "<=",
    "leqslant": "<=",
    "ge": ">=",
    "geq": ">=",
    **dict.fromkeys(("ldots", "dots", "cdots", "vdots", "ddots", "dotsc", "hdots"), "…"),
    "lesssim": "<",
    "gtrsim": ">",
    "geqslant": ">=",
    "neq": "≠",
    "rbrace": "}",
    "{": "{",
    "}": "}",
    "_": "_",
    "exp": "exp",
    "ln": "ln",
    "log": "log",
    "mid": "|",
    "vert": "|",
    "lvert": "|",
    "rvert": "|",
}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
