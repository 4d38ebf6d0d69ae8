"""exactattn new: a commented case or spec file to start from, or a case drafted from a document."""

from __future__ import annotations


def template() -> str:
    """The text of a case that loads and verifies, with a comment for every key."""
    return _TEMPLATE


def spec_template() -> str:
    """The text of a spec file for tensors, with a comment for every key."""
    return _SPEC


def drafted(path: str) -> tuple[str, str]:
    """The case drafted from a document, and the list of what was and was not understood. Errors: CaseError."""
    from exactattn.journeys.notes import draft_of

    draft = draft_of(path)
    lost = sum(not one.understood for one in draft.noted)
    assumed = sum(one.assumed for one in draft.noted)
    head = f"{path}: {len(draft.noted) - lost} understood, {assumed} of them assumed; {lost} not understood"
    return draft.text, "\n".join([head, *(f"  {one}" for one in draft.noted)])


_TEMPLATE = """\
# A case of exactattn: a problem, what somebody prints and says about it, and what is known to be wrong.
# Check it with: exactattn verify FILE
# Every number is read exactly as written: 0.40 has two digits, 1/3 and sqrt(2)/2 are not rounded, 28.4% is 0.284.
# Indices count from 0. Text with ': ', '#', '[' or '>' in it needs quotes. Indent with spaces.
version: 1
title: Three tokens, identity projections
# source: {document: article.txt, language: en}  # free keys: where the numbers come from

# The exact inputs. Several problems: `problems: {NAME: {...}, ...}` instead.
problem:
  X: [[1, 0], [0, 1], [1, 1]]          # tokens as rows
  W_Q: identity                        # or rows of numbers, or {times: 1/sqrt(2), values: [[1, 1], [1, -1]]}
  W_K: identity
  W_V: identity
  scale: 1/sqrt(d_k)                   # over d_k, d_v, d_model, n, L, S, H; this is also what is taken if left out
  # Q: [[..]]                          # Q, K, V themselves instead of X and W_Q, W_K, W_V; or `scores` and V
  # heads: [{W_Q: .., W_K: .., W_V: ..}, {..}]   # several heads, each with its own inputs
  # W_O: [[..]]                        # output projection, after the heads are joined
  # base: 2                            # base of the exponential, e if left out
  # causal: true                       # or top-left, bottom-right (they differ when L is not S), or an offset: 3
  # mask: [[1, 0, 0], [1, 1, 0], [1, 1, 1]]      # 1: may see the key; or numbers to add, -inf where it may not
  # bias: [[..]]                       # added to the scaled scores
  # orientation: columns               # tokens are columns, Q = W_Q X. Every stage is then shown with queries as
  #                                    # columns: scores and weights are keys x queries, softmax runs down a column
  # Formulas instead, or beside: `inputs`, numbers, lists or rows by any name; `draws` that a generator made; `steps`,
  # formulas that nobody printed. Printed numbers then say `of:` which formula they are.
  # inputs: {raw: [2.0, 4.0, 6.0], X: {values: [[0.31, 0.52]], rounded: true}}   # rounded: known to the last digit only
  # draws: [{generator: numpy-legacy, seed: 42, draw: {W: "randint(3, size=(3, 3))"}}]
  # steps: {scaled: raw/2}
  # masked_row: zero                   # what a row with no allowed key gives; undefined if left out; uniform, mean
  # window: [2, 0]                     # keys seen to the left and right of the position; null is open
  # offset: 0                          # where query 0 stands, for window, alibi and rotary; or end
  # softcap: 30                        # c tanh(s / c);  softcap_order: before-bias, after-bias or after-mask
  # alibi: {slopes: paper}             # or authors, or a list, one a head; form: distance or signed
  # bias_place: inside                 # a bias is added before the scale
  # sinks: [0.5]                       # a logit a head that has no value
  # lse_base: 2                        # base of the lse, that of the softmax if left out
  # rotary: {base: 10000, layout: halves}        # or interleaved; width, factor; cosines and sines as rows
  # qk_norm: {kind: rms, eps: 1e-6}    # or l2; q_weight and k_weight as lists
  # tensors: x.safetensors             # Q, K, V from a small file beside the case, in place of them

# Numbers as printed, each judged. A name that is a stage needs no `stage`.
# Stages: q k v scores scaled masked weights lse context concat output.
printed:
  scaled: {times: 1/sqrt(2), values: [[1, 0, 1], [0, 1, 1], [1, 1, 2]]}
  weights: [[0.40, 0.20, 0.40], [0.20, 0.40, 0.40], [0.25, 0.25, 0.50]]
  output: [[0.80, 0.60], [0.60, 0.80], [0.75, 0.75]]
  # prose: {stage: weights, rows: [2], values: [0.25, 0.25, ...]}   # part of a stage; `...` is not judged
  # masked: {rows: [0], values: [0.71, -inf, -inf]}  # under this stage -inf says that no key is allowed, and is judged
  # first: {stage: weights, head: 0, values: [[..]]}                # one head of several
  # exps: {of: exp(scaled), values: [2.72, 7.39]}                   # what a formula over inputs, stages, steps gives
  # table: {of: softmax(raw), stage: weights, readings: {halved: softmax(raw/2)}, values: [..]}
  # shown: {missing: the scores are not given, stage: weights, values: [0.3, 0.5, 0.2]}   # only consistency is judged
  # `tolerance: 2e-3` says how far off the author allows; `rounding: truncated` how the last digits came about;
  # `decimal: comma` what a comma inside pasted numbers is
  # form: numpy, r or spreadsheet says that a program trimmed zeros; dtype: float32 that it was single precision;
  # unit: 10 that the last digit is not the printed one ("about 150")

# Statements, each with one key for its kind: law, equation, formula, order, reading, uncheckable.
claims:
  - law: rows-sum-to-one               # `exactattn list laws`
  - equation: 0.40*[1, 0] + 0.20*[0, 1] + 0.40*[1, 1] = [0.80, 0.60]
  - {id: largest, order: "weights[2,2] > weights[2,0] = weights[2,1]", says: the third token looks at itself most}
  - {id: general, uncheckable: attention generalises well, why: no quantity is stated}

# Float runs that are made and measured.
runs: {formats: [float64, float32], algorithms: [naive, shifted, online]}

# Findings that are known: each must come out so, and then is no surprise.
# expect:
#   "weights[2, :]": {verdict: fails, reason: new}
"""

_SPEC = """\
# What the tensors of a file are, and which attention is meant: exactattn report TENSORS --spec FILE
# Leave out what is not meant. Every number is read exactly as written.
scale: 1/sqrt(d_k)            # over d_k, d_v, L, S, n (keys), H; this is also what is taken if left out
causal: none                  # or top-left (j <= i), bottom-right (j <= i + S - L), or where query 0 stands: 3
# window: [128, 0]            # keys seen to the left and right; null is open (-1 in ONNX and flash-attn)
# offset: 0                   # where query 0 stands, for window, alibi, rotary; `end`: the last at the last key
# softcap: 50                 # c tanh(s / c)
# softcap_order: before-bias  # or after-bias, after-mask
# bias_place: outside         # a bias is added after the scale, or `inside`, before it
# alibi: {slopes: paper, form: distance}              # or authors, or a list; form signed: j - p
# rotary: {base: 10000, layout: halves, width: 64}    # layout interleaved; factor; cosines: NAME, sines: NAME
# qk_norm: {kind: rms, eps: 1e-6, q_weight: NAME, k_weight: NAME}     # or kind l2
# base: 2                     # base of the softmax, e if left out
# lse_base: 2                 # base of the lse, that of the softmax if left out
# masked_row: zero            # what a row with no allowed key gives: undefined, zero, uniform, mean
# head_map: grouped           # query head h uses key head h // (H/H_kv); tiled: h mod H_kv
# layout: BHLD                # or BLHD, BLD (with query_heads, key_heads), HLD, LD, THD (packed, with query_starts)
# polarity: attend            # a true in the mask lets a query see a key; block: keeps it from it
# dtypes: {q: bfloat16}       # types that .npy and .npz files forget
# tensors:                    # which tensor is what, where the name is not a usual one; gradients (dq, dk, dv, ...)
#                             # are judged only where there is output_gradient (do), that of the output
#   {q: q, k: k, v: v, mask: mask, bias: bias, sinks: sinks, key_lengths: key_lengths, query_starts: cu_seqlens_q,
#    key_starts: cu_seqlens_k, past_key: past_key, past_value: past_value, query_positions: query_positions,
#    key_positions: key_positions, output: out, lse: lse, weights: weights, output_gradient: do, dq: dq, dk: dk, dv: dv,
#    dbias: dbias, dsinks: dsinks}
"""
