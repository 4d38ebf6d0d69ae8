"""The words of a case file that are chosen from a list."""

from __future__ import annotations

from collections.abc import Mapping

from exactattn.findings import Verdict

VERSION = "1"
KINDS = ("law", "equation", "formula", "order", "reading", "uncheckable")
CAUSAL = ("top-left", "bottom-right")
MASKED_ROWS = ("undefined", "zero", "uniform", "mean")
SOFTCAP_ORDERS = ("before-bias", "after-bias", "after-mask")
BIAS_PLACES = ("outside", "inside")
ALIBI_FORMS = ("distance", "signed")
SLOPES = ("paper", "authors")
ROTARY_LAYOUTS = ("halves", "interleaved")
NORMS = ("rms", "l2")
HEAD_MAPS = ("grouped", "tiled")
LAYOUTS = ("BHLD", "BLHD", "BLD", "HLD", "LD", "THD")
POLARITIES = ("attend", "block")
ORIENTATIONS = ("rows", "columns")
DTYPES = ("float64", "float32")
PASTED_FORMS = (  # that `pasted` reads
    *("latex", "list", "markdown", "ascii", "torch", "numpy", "r", "spreadsheet", "julia", "matlab", "csv"),
)
FORMS = ("plain", *PASTED_FORMS)
TRIMMING = ("numpy", "r", "spreadsheet")  # forms that also say how a program trims the zeros of numbers in a list
ROUNDINGS = ("rounded", "truncated")
DECIMALS = ("point", "comma")
VERDICTS = tuple(map(str, (Verdict.FAILS, Verdict.UNDECIDED, Verdict.NOT_RUN)))
DEFAULT_FORMATS = ("float64", "float32")
DEFAULT_ALGORITHMS = ("naive", "shifted", "online")
RESERVED = (*KINDS, "fit", "run", "hazard")  # first parts of ids, so no names of problems

# Words that people use elsewhere, in small letters, and what they are called here.
STAGE_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("query", "queries"), "'q'"),
    **dict.fromkeys(("key", "keys"), "'k'"),
    **dict.fromkeys(("value", "values"), "'v'"),
    **dict.fromkeys(("qk", "qk^t", "raw_scores", "attention_scores", "energies"), "'scores'"),
    **dict.fromkeys(("logits", "scores_scaled", "scaled_scores"), "'scaled'"),
    **dict.fromkeys(("masked_scores", "scores_masked"), "'masked'"),
    **dict.fromkeys(("softmax", "attention_weights", "attn_weights", "probs", "probabilities"), "'weights'"),
    **dict.fromkeys(("attention", "attn"), "'weights' or 'output'"),
    **dict.fromkeys(("logsumexp", "log_sum_exp"), "'lse'"),
    **dict.fromkeys(("head_output", "context_vector", "context_vectors"), "'context'"),
    **dict.fromkeys(("out", "attention_output"), "'output'"),
}
FORMAT_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("fp64", "f64", "double", "binary64"), "'float64'"),
    **dict.fromkeys(("fp32", "f32", "single", "float", "binary32"), "'float32'"),
    **dict.fromkeys(("fp16", "f16", "half", "binary16"), "'float16'"),
    "bf16": "'bfloat16'",
    **dict.fromkeys(("fp8", "f8", "float8"), "'e4m3fn' or 'e5m2'"),
    **dict.fromkeys(("fp8_e4m3", "e4m3", "float8_e4m3fn"), "'e4m3fn'"),
    **dict.fromkeys(("fp8_e5m2", "float8_e5m2"), "'e5m2'"),
}
ALGORITHM_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("flash", "flashattention", "tiled"), "'online'"),
    **dict.fromkeys(("safe", "stable", "max"), "'shifted'"),
}
DTYPE_WORDS = {word: name for word, name in FORMAT_WORDS.items() if name.strip("'") in DTYPES}
