r"""A side of an equation in LaTeX or code -> one flat spelling: `\frac{Q{K}^T}{\sqrt{2}}` -> `(QK^T)/sqrt(2)`."""

from __future__ import annotations

import re
from functools import lru_cache

from exactattn.documents.pasted.mathtext import spell
from exactattn.errors import NumeralError

MAX_SIDE = 2_000  # characters of one side
_GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda", "mu", "sigma", "tau", "phi", "psi", "omega")
_COMMANDS = {
    **{name: name for name in _GREEK},
    **dict.fromkeys(("top", "intercal", "transpose", "mathsf{T}"), "T"),
    **{name: name for name in ("softmax", "sum", "max", "min", "dim")},
}
_COMMAND = re.compile(r"\\(" + "|".join(map(re.escape, _COMMANDS)) + r")(?![a-zA-Z])")
_MARKED = re.compile(r"\\(?:wide)?(?:hat|tilde|bar)\s*(?:\{(\w+)\}|(\w))(?!\w)")  # S with a hat is not S
_ACCENT = re.compile(r"\\(?:hat|tilde|bar|vec|mathcal|mathbb|mathfrak|operatorname\*)(?![a-zA-Z])")
_ARRANGING = re.compile(r"\\(?:begin|end)\{[a-zA-Z]+\*?\}|\\(?:nonumber|notag|left\.|right\.)|&|\\[()\[\]]|\$|`|\*\*")
_LIBRARIES = re.compile(r"(?:(?:np|numpy|math|torch|F|nn|jnp|tf|functional|special|scipy)\.)+(?=[a-z])")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SUBSCRIPTED = re.compile(r"(?<=[^\W\d_])([₀-₉]+)")
_SMALL = {"ₖ": "_k", "ᵢ": "_i", "ⱼ": "_j", "ᵥ": "_v", "ᵀ": "^T", "⊤": "^T"}
_TURNED = re.compile(r"\.transpose\([-0-9, ]*\)|\.m?T(?![a-zA-Z])|\.t\(\)")
_GROUPED = re.compile(r"([_^])\s*\((\w+)\)")
_LONE = re.compile(r"(?<![a-z0-9_])\((\w+(?:\^T)?)\)")


@lru_cache(maxsize=4096)
def flat(text: str) -> str | None:
    """The side without markup, and without the names of libraries; None where a command in it is unknown."""
    if len(text) > MAX_SIDE:
        return None
    text = _ARRANGING.sub(lambda match: "**" if match[0] == "**" and "\\" not in text else " ", text)
    text = _MARKED.sub(r"\1\2'", text)
    text = _ACCENT.sub(r"\\text", text)
    text = _COMMAND.sub(lambda match: _COMMANDS[match[1]], text)
    for sign, spelled in _SMALL.items():
        text = text.replace(sign, spelled)
    text = _SUBSCRIPTED.sub(lambda match: "_" + match[1].translate(_SUBSCRIPTS), text)
    try:
        spelled_out = spell(text)[0]
    except NumeralError:
        return None
    return _LIBRARIES.sub("", " ".join(spelled_out.split()))


@lru_cache(maxsize=4096)
def compact(text: str) -> str:
    """A flat side without spaces, signs of products and needless brackets: `Q K^(T)` and `Q @ K.T` are `QK^T`."""
    text = _TURNED.sub("^T", text)
    text = re.sub(r"[\s@·×]", "", text)
    for _ in range(3):
        text = _LONE.sub(r"\1", _GROUPED.sub(r"\1\2", text))
    return re.sub(r"(?<=[\w)])\*(?=[(A-Za-z])(?!\*)", "", text)
