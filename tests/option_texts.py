"""The options of a spec as the lines of a case or of a spec file: for the tests of both."""

from fractions import Fraction as F

from loops import ROOT


def text(x):
    return "sqrt(2)" if x == ROOT else str(F(x))


def rows(array):
    return "[" + ", ".join("[" + ", ".join(map(text, row)) + "]" for row in array) + "]"


def options_of(spec):
    """The options of a spec as lines of a case."""
    for key in ("scale", "base", "lse_base", "softcap"):
        if getattr(spec, key) is not None:
            yield f"{key}: {text(getattr(spec, key))}"
    if spec.causal != "none":
        yield f"causal: {spec.offset if spec.causal == 'offset' else spec.causal}"
    if spec.causal != "offset" and spec.offset is not None:
        yield f"offset: {spec.offset}"
    if spec.window != (None, None):
        yield "window: [" + ", ".join("null" if side is None else str(side) for side in spec.window) + "]"
    if spec.softcap is not None:
        yield f"softcap_order: {spec.softcap_order}"
    if spec.bias_place != "outside":
        yield f"bias_place: {spec.bias_place}"
    if spec.masked_row != "undefined":
        yield f"masked_row: {spec.masked_row}"
    if spec.alibi:
        yield f"alibi: {{slopes: [{', '.join(map(text, spec.alibi.slopes))}], form: {spec.alibi.form}}}"
    if spec.rotary:
        width = "" if spec.rotary.width is None else f"width: {spec.rotary.width}, "
        r = spec.rotary
        yield f"rotary: {{{width}base: {text(r.base)}, layout: {r.layout}, factor: {text(r.factor)}}}"
    if spec.qk_norm:
        n = spec.qk_norm
        weights = "".join(
            f", {key}: [{', '.join(map(text, w))}]"
            for key, w in (("q_weight", n.q_weight), ("k_weight", n.k_weight))
            if w
        )
        yield f"qk_norm: {{kind: {n.kind}, eps: {text(n.eps)}{weights}}}"
