"""Bad files: what their error must say, and where. Each row is one mistake, and the file has no other."""

import pytest

from exactattn.documents import statements
from exactattn.documents.case import load, loads
from exactattn.errors import CaseError
from exactattn.truth import statements as truth_statements

ONE = "version: 1\nproblem: {X: [[1, 0], [0, 1], [1, 1]], W_Q: identity, W_K: identity, W_V: identity}\n"
HEADS = (
    "version: 1\nproblem: {X: [[1, 0], [0, 1]], heads: [{Q: [[1], [2]], K: [[1], [2]], V: [[1], [2]]}, "
    "{Q: [[1], [2]], K: [[1], [2]], V: [[1], [2]]}]}\n"
)
TWO = "version: 1\nproblems:\n  a: {Q: [[1]], K: [[1]], V: [[1]]}\n  b: {Q: [[1]], K: [[1]], V: [[1]]}\n"
QKV = "version: 1\nproblem: {Q: [[1, 2]], K: [[1, 2], [3, 4]], V: [[1], [2]], %s}"

FILES = {
    "empty": ("", None, "the file is empty"),
    "comment": ("# nothing\n", None, "the file is empty"),
    "scalar": ("attention", (1, 1), "found 'attention', wanted the keys of a case"),
    "list": ("- 1", (1, 1), "found a list, wanted the keys of a case"),
    "tab": ("version: 1\nproblem:\n\tX: [[1]]\n", (3, 1), "a tab in the indentation, wanted spaces"),
    "tab later": ("version: 1\nproblem:\n  X: [[1]]\n\tQ: [[1]]\n", (4, 1), "a tab in the indentation"),
    "bracket": ("a: [1\nb: 2", (2, 2), "that begins in line 1, column 4"),
    "colon": ("version: 1\ntitle: a: b\n", (2, 9), "put quotes round"),
    "quotes": ("version: 1\ntitle: 'a\n", (2, 8), "close the quotes"),
    "comparison": ('claims:\n- order: "weights[2,2]" > 1', (2, 27), "put quotes round the whole text"),
    "hidden bracket": (
        "claims:\n- {id: a, says: see # 3, law: x}\n- law: x\n",
        (2, 21),
        "the mapping that begins in line 2, column 3 is not closed: ` #` begins a comment",
    ),
    "hidden list": (
        "a: [1, 'x # ]', see # 3]\nb: 1",
        (1, 21),
        "the list that begins in line 1, column 4 is not closed",
    ),
    "comment before an open bracket": ("a: [[1, 2], # one\n  [3, 4]\nb: 1", (3, 1), "that begins in line 1, column 4"),
    "two documents": ("---\nversion: 1\n---\nversion: 1", (3, 1), "second document"),
    "tag": ("!!python/object:os.system 1", (1, 1), "the YAML tag"),
    "bomb": ("a: &a [x, x]\nb: &b [*a, *a]\n", (1, 4), "the YAML reference '&a'"),
    "alias": ("version: *x", (1, 10), "the YAML reference '*x'"),
    "merge key": ("version: 1\n<<: {a: 1}", (2, 1), "unknown key '<<'"),
    "key of list": ("version: 1\n? [a]\n: 1", (2, 3), "a list or mapping as a key"),
    "twice": ("version: 1\ntitle: a\ntitle: b", (3, 1), "'title' stands twice (the first is in line 2"),
    "twice inside": (ONE.replace("W_V", "W_K"), (2, 70), "'W_K' stands twice"),
    "control": ("version: 1\ntitle: a\x07b", (2, 9), "the control character '\\x07'"),
    "escape": ('version: 1\n"ti\\e[31mtle": 1', (2, 1), "unknown key 'ti\\x1b[31mtle'"),
    "no version": ("title: x", (1, 1), "has no key 'version' (write `version: 1`"),
    "version": ("version: 2", (1, 10), "found version '2', wanted 1"),
    "misspelt": (ONE + "prinnted: {}", (3, 1), "unknown key 'prinnted' (did you mean 'printed'?)"),
    "unknown": (ONE + "foo: {}", (3, 1), "unknown key 'foo' (known are: claims, expect, "),
    "case of letters": (QKV % "w_o: [[1]]", (2, 60), "unknown key 'w_o' (did you mean 'W_O'?)"),
    "mapping wanted": ("version: 1\nprinted: [1]", (2, 10), "found a list, wanted a mapping"),
    "nothing": ("version: 1\nclaims:\n", (2, 8), "found nothing, wanted a list"),
    "no problem": ("version: 1\nprinted: {weights: [[1]]}", (2, 11), "this needs a problem, and the case has none"),
    "both": (TWO + "problem: {Q: [[1]], K: [[1]], V: [[1]]}\n", (2, 1), "both `problem` and `problems`"),
    "name": ("version: 1\nproblems: {law: {Q: [[1]], K: [[1]], V: [[1]]}}", (2, 12), "'law' as the name of a problem"),
    # problems
    "ragged": ("version: 1\nproblem: {Q: [[1, 2], [3]]}", (2, 23), "row 1 has 1 number, row 0 has 2"),
    "vector": ("version: 1\nproblem: {Q: [1, 2]}", (2, 14), "found a list of 2 numbers, wanted a matrix"),
    "no matrix": ("version: 1\nproblem: {Q: []}", (2, 14), "found an empty list, wanted a matrix"),
    "no row": ("version: 1\nproblem: {Q: [[]]}", (2, 15), "found an empty list, wanted a row"),
    "deep row": ("version: 1\nproblem: {Q: [[[1]]]}", (2, 16), "found a list, wanted a number"),
    "nan": ("version: 1\nproblem: {Q: [[1, nan]]}", (2, 19), "found 'nan'"),
    "inf": ("version: 1\nproblem: {Q: [[1, .inf]]}", (2, 19), "found '.inf'"),
    "empty cell": ("version: 1\nproblem: {Q: [[1, '']]}", (2, 19), "found nothing, wanted a number"),
    "word": ("version: 1\nproblem: {Q: [[one]]}", (2, 16), "found 'one', wanted a number (words and marks such as ~"),
    "comma": ("version: 1\nproblem: {Q: [['1,5']]}", (2, 16), "write decimals with a point"),
    "huge": ("version: 1\nproblem: {Q: [[1e999999999]]}", (2, 16), "decimal exponent"),
    "tower": ("version: 1\nproblem: {Q: [[9**9**9]]}", (2, 17), "too large"),
    "code": ("version: 1\nproblem: {Q: [['__import__(1)']]}", (2, 16), "__import__"),
    "times": ("version: 1\nproblem: {Q: {tmes: 2, times: 2, values: [[1]]}}", (2, 15), "did you mean 'times'?"),
    "identity X": ("version: 1\nproblem: {X: identity}", (2, 14), "found 'identity' for X, wanted a matrix"),
    "identity alone": ("version: 1\nproblem: {W_Q: identity}", (2, 16), "the size of 'identity' for W_Q is unknown"),
    "missing": ("version: 1\nproblem: {Q: [[1]], K: [[1]]}", (2, 10), "no V: give V itself"),
    "widths": ("version: 1\nproblem: {Q: [[1]], K: [[1, 2]], V: [[1]]}", (2, 10), "queries are 1 wide and keys 2"),
    "either": (QKV % "W_Q: [[1]]", (2, 60), "found both 'Q' and 'W_Q'"),
    "beside heads": (
        "version: 1\nproblem: {Q: [[1]], heads: [{Q: [[1]], K: [[1]], V: [[1]]}]}",
        (2, 11),
        "put it into",
    ),
    "no heads": ("version: 1\nproblem: {heads: []}", (2, 18), "wanted at least one head"),
    "output": (QKV % "W_O: [[1], [1]]", (2, 65), "W_O has 2 rows"),
    "mask": (QKV % "mask: [[1]]", (2, 66), "the mask is 1 x 1"),
    "bias": (QKV % "bias: [[1]]", (2, 66), "the bias is 1 x 1"),
    "mixed mask": (QKV % "mask: [[true, -inf]]", (2, 68), "found 'true' among numbers"),
    "mask word": (QKV % "mask: [[yes, 1]]", (2, 68), "found 'yes', wanted a number"),
    "causal": (QKV % "causal: true", (2, 68), "has two meanings (write `top-left`"),
    "causal word": (QKV % "causal: topleft", (2, 68), "did you mean 'top-left'?"),
    "causal yes": (QKV % "causal: Yes", (2, 68), "`causal: yes` has two meanings (write `top-left`"),
    "causal mask": (
        QKV % "mask: causal",
        (2, 66),
        "found 'causal', wanted a matrix of 1 and 0, or of numbers that are",
    ),
    "masked row": (QKV % "masked_row: zeros", (2, 72), "did you mean 'zero'?"),
    "orientation": (QKV % "orientation: column", (2, 73), "did you mean 'columns'?"),
    "base": (QKV % "base: -2", (2, 66), "wanted a positive number other than 1"),
    "base of roots": (QKV % "base: 1 - sqrt(2)", (2, 66), "wanted a positive number other than 1"),
    "scale": (QKV % "scale: 1/sqrt(d_q)", (2, 74), "unknown name 'd_q'"),
    "no d_k": ("version: 1\nproblem: {scores: [[1]], V: [[1]]}", (2, 10), "d_k is unknown: state `scale`"),
    "large": (
        "version: 1\nproblem: {Q: %s, K: %s, V: %s}" % (([[1]] * 201,) * 3),
        (2, 10),
        "has 40401 scores (201 queries, 201 keys)",
    ),
    # printed numbers
    "stage": (ONE + "printed: {wieghts: [[1]]}", (3, 11), "did you mean 'weights'?"),
    "stage key": (ONE + "printed: {w: {stage: wieghts, rows: [0], values: [1, 0, 0]}}", (3, 22), "'weights'?"),
    "no values": (ONE + "printed: {weights: {rows: [0]}}", (3, 20), "has no key 'values'"),
    "values word": (ONE + "printed: {weights: nothing}", (3, 20), "found 'nothing', wanted numbers"),
    "print ragged": (ONE + "printed: {weights: [[1, 2], [3]]}", (3, 29), "row 1 has 1 number"),
    "print rows": (
        ONE + "printed: {q: [[1, 2], [3, 4]]}",
        (3, 14),
        "'q' is 3 x 2 here (rows x columns), and 2 x 2 numbers are printed (say which part that is with "
        "`rows: [...]`, counted from 0; if it is all of it, check the shapes of the problem)",
    ),
    "print columns": (ONE + "printed: {q: [[1], [2], [3]]}", (3, 14), "say which part that is with `columns: [...]`"),
    "print list": (ONE + "printed: {weights: [1, 0, 0]}", (3, 20), "say which part that is with `rows: [...]`"),
    "print too many": (ONE + "printed: {q: [[1, 2], [1, 2], [1, 2], [1, 2]]}", (3, 14), "either too many are printed"),
    "outside": (
        ONE + "printed: {weights: {rows: [3], values: [1, 0, 0]}}",
        (3, 27),
        "there is no row 3 (wanted 0 to 2, or check the shapes",
    ),
    "row index": (ONE + "printed: {weights: {rows: [x], values: [1, 0, 0]}}", (3, 28), "found 'x', wanted an index"),
    "row minus": (ONE + "printed: {weights: {rows: [-1], values: [1, 0, 0]}}", (3, 28), "found '-1', wanted an index"),
    "rows word": (ONE + "printed: {weights: {rows: 0, values: [1, 0, 0]}}", (3, 27), "found '0', wanted a list"),
    "rows count": (ONE + "printed: {weights: {rows: [0, 1], values: [1, 0, 0]}}", (3, 27), "`rows` names 2, and 1"),
    "rows twice": (ONE + "printed: {q: {rows: [1, 1], values: [[1, 0], [1, 0]]}}", (3, 21), "stands twice in `rows`"),
    "print nan": (ONE + "printed: {q: {rows: [0], values: [1, NaN]}}", (3, 38), "found 'NaN'"),
    "print inf": (ONE + "printed: {q: {rows: [0], values: [1, -inf]}}", (3, 38), "judged; with `stage: masked`, -inf"),
    "no factor": (ONE + "printed: {q: {rows: [0], times: 0, values: [1, 1]}}", (3, 33), "a factor that is not 0"),
    "unit": (ONE + "printed: {q: {rows: [0], unit: 0, values: [1, 1]}}", (3, 32), "wanted a positive rational"),
    "form": (ONE + "printed: {q: {rows: [0], form: nmupy, values: [1, 1]}}", (3, 32), "did you mean 'numpy'?"),
    "form and unit": (ONE + "printed: {q: {rows: [0], unit: 1, form: nmupy, values: [1, 1]}}", (3, 41), "'numpy'?"),
    "dtype": (ONE + "printed: {q: {rows: [0], dtype: float16, values: [1, 1]}}", (3, 33), "'float64' or 'float32'"),
    "lse": (ONE + "printed: {lse: [1, 2]}", (3, 16), "'lse' has 3 numbers here"),
    "lse matrix": (ONE + "printed: {lse: [[1], [2], [3]]}", (3, 16), "wanted one list"),
    "no q": ("version: 1\nproblem: {scores: [[1]], V: [[1]], scale: 1}\nprinted: {q: [[1]]}", (3, 11), "has no 'q'"),
    "no head": (HEADS + "printed: {weights: [[1, 0], [0, 1]]}", (3, 11), "no head is named"),
    "head": (HEADS + "printed: {weights: {head: 2, values: [[1, 0], [0, 1]]}}", (3, 27), "found head 2, wanted 0 to 1"),
    "head of none": (ONE + "printed: {q: {head: 0, rows: [0], values: [1, 1]}}", (3, 21), "lists no `heads`"),
    "which problem": (TWO + "printed: {weights: [[1]]}", (5, 11), "names none (add `problem:` with one of a, b)"),
    "wrong problem": (TWO + "printed: {c:weights: [[1]]}", (5, 11), "no problem named 'c'"),
    "named one": (ONE + "printed: {q: {problem: a, rows: [0], values: [1, 1]}}", (3, 24), "the case has no `problems`"),
    "print name": (
        ONE + "printed: {'q[0]': {stage: q, rows: [0], values: [1, 1]}}",
        (3, 11),
        "as a name of printed numbers",
    ),
    "two prints": (TWO + "printed: {a:v: [[1]], v: {problem: a, values: [[1]]}}", (5, 23), "are named 'v'"),
    "commas": (
        ONE + "printed: {v: [[0,67, 0,33], [0,33, 0,67], [1,00, 0,00]]}",
        (3, 14),
        "3 x 4 numbers are printed (decimal commas may be meant: write 0.67, not 0,67; else either too many are",
    ),
    "commas of Q": (
        "version: 1\nproblem: {Q: [[0,67, 0,33]], K: [[1, 0]], V: [[1]]}",
        (2, 10),
        "(Q has twice as many columns as fit: decimal commas may be meant",
    ),
    "commas of X": (
        "version: 1\nproblem: {X: {times: 2, values: [[0,67, -1,5]]}, W_Q: [[1], [0]], W_K: [[1], [0]], W_V: identity}",
        (2, 10),
        "X W_Q needs 4 rows (X has twice as many columns as fit: decimal commas may be meant",
    ),
    "commas in one row": ("version: 1\nproblem: {Q: [[0,67, 0,33], [1, 0]]}", (2, 29), "equally many; decimal commas"),
    "no commas": ("version: 1\nproblem: {Q: [[1, -1], [1]]}", (2, 24), "needs equally many)"),
    "no comma between": ("version: 1\nproblem: {Q: [[1 0]]}", (2, 18), "put a comma between numbers"),
    "about": (
        ONE + "printed: {q: {rows: [0], values: [1, about a third]}}",
        (3, 38),
        "found 'about a third', wanted a n",
    ),
    "tilde": (
        "version: 1\nproblem: {Q: [[1, ~0.33]], K: [[1, 0]], V: [[1]]}",
        (2, 19),
        "found '~0.33', wanted a number (words and",
    ),
    "dots": (
        "version: 1\nproblem: {Q: [[1, 0.33...]], K: [[1, 0]], V: [[1]]}",
        (2, 19),
        "found '0.33...', wanted a number (words and",
    ),
    "size for a number": (QKV % "scale: dk", (2, 67), "unknown name 'dk'; did you mean 'd_k'?"),
    "print nan hint": (
        ONE + "printed: {q: {rows: [0], values: [1, nan]}}",
        (3, 38),
        "(write `...` for a number that is not",
    ),
    "plus infinity": (ONE + "printed: {masked: {rows: [0], values: [1, inf, 0]}}", (3, 43), "wanted a finite number"),
    "minus infinity times": (
        ONE + "printed: {masked: {rows: [0], times: -1, values: [1, -inf, 0]}}",
        (3, 38),
        "a negative factor in front of -inf, which makes +inf of it (multiply it in",
    ),
    "minus infinity in a sum": (
        ONE + "printed: {masked: {rows: [0], values: [1, -inf, 0]}}\nclaims:\n- equation: sum(printed.masked) = 1",
        (5, 17),
        "printed.masked: a -inf is printed there",
    ),
    "rows and columns": (
        ONE + "printed: {q: [[1]]}",
        (3, 14),
        "1 x 1 numbers are printed (say which part that is with `rows: [...]` and `columns: [...]`",
    ),
    "columns beside rows": (
        ONE + "printed: {q: {rows: [0], values: [1]}}",
        (3, 34),
        "'q' is 3 x 2 here (rows x columns), and 1 x 1 numbers are printed (say which part that is with `col",
    ),
    "stage of others": (ONE + "printed: {softmax: [[1]]}", (3, 11), "did you mean 'weights'?"),
    "two stages": (
        ONE + "printed: {x: {stage: Attention, values: [[1]]}}",
        (3, 22),
        "did you mean 'weights' or 'output'?",
    ),
    "scaled": (ONE + "printed: {x: {stage: scores_scaled, values: [[1]]}}", (3, 22), "did you mean 'scaled'?"),
    # what claims name
    "law": (
        ONE + "claims:\n- law: rows_sum_to_one",
        (4, 8),
        "no law named 'rows_sum_to_one' (did you mean 'rows-sum-to",
    ),
    "no law": (ONE + "claims:\n- law: zzz", (4, 8), "no law named 'zzz' (known are: concat-output, "),
    "unknown name": (
        ONE + "claims:\n- order: 1 < wieghts[0,0]",
        (4, 14),
        "unknown name 'wieghts'; did you mean 'weights'?",
    ),
    "name of others": (ONE + "claims:\n- order: softmax[0,0] > 0", (4, 10), "did you mean 'weights'?"),
    "index": (
        ONE + "claims:\n- order: 0 < weights[0, 3]",
        (4, 14),
        "weights is 3 x 3 here (rows x columns), so there is no column 3; wanted 0 to 2, indices count from 0",
    ),
    "indices": (ONE + "claims:\n- order: 0 < lse[0, 0]", (4, 14), "found 2 indices, and lse is 3 here (rows)"),
    "index of input": (ONE + "claims:\n- order: 0 < X[:, 2]", (4, 14), "X is 3 x 2 here (rows x columns), so there is"),
    "index of head": (HEADS + "claims:\n- order: '0 < q[2, 0, 0]'", (4, 10), "q is 2 x 2 x 1 here (heads x rows x col"),
    "index of size": (ONE + "claims:\n- order: 0 < n[0]", (4, 14), "n is one number, so it has no indices"),
    "input not given": (ONE + "claims:\n- order: W_O[0] > 0", (4, 10), "this problem states no W_O"),
    "stage not there": (
        "version: 1\nproblem: {scores: [[1]], V: [[1]], scale: 1}\nclaims: [{order: 0 < sum(q)}]",
        (3, 26),
        "no stage q: its scores are given directly",
    ),
    "printed name": (
        ONE + "printed: {v: {rows: [0], values: [1, 0]}}\nclaims:\n- equation: 1 = printed.w[0,0]",
        (5, 17),
        "nothing printed is called 'w'; known are: v",
    ),
    "printed index": (
        ONE + "printed: {v: {rows: [0], values: [1, 0]}}\nclaims:\n- equation: 1 = printed.v[1,0]",
        (5, 17),
        "printed.v: there is no index 1 on axis 0",
    ),
    "printed hole": (
        ONE + "printed: {v: {rows: [0], values: [1, ...]}}\nclaims:\n- equation: 1 = printed.v[0,1]",
        (5, 17),
        "printed.v: there is no index 1 on axis 1",
    ),
    "function": (
        ONE + "claims:\n- order: max(1) > 0",
        (4, 10),
        "unknown function 'max'; did you mean 'softmax'?",
    ),
    "formula": (ONE + "claims:\n- formula: a_ij = exp(e_ij", (4, 27), "found the end, wanted ')'"),
    "shape of formula": (ONE + "claims:\n- {formula: C = A V, shapes: {C: [1]}}", (4, 30), "must be [rows, columns]"),
    "meaning": (ONE + "claims:\n- {formula: C = A V, means: {A: wheights}}", (4, 29), "did you mean 'weights'?"),
    "key of formula": (
        ONE + "claims:\n- {formula: C = A V, mens: {}}",
        (4, 22),
        "has no key 'mens' (did you mean 'means'?)",
    ),
    "reading": (ONE + "claims:\n- {reading: words, scale: 1/d_q}", (4, 27), "scale: unknown name 'd_q'"),
    "empty reading": (ONE + "claims:\n- reading: words", (4, 3), "found neither `scale`, `base` nor `causal`"),
    "against": (ONE + "claims:\n- {reading: words, base: 2, against: logits}", (4, 38), "did you mean 'scaled'?"),
    # claims, runs, expectations
    "claim": (ONE + "claims: [x]", (3, 10), "found 'x', wanted a mapping"),
    "claims": (ONE + "claims: {law: convex-hull}", (3, 9), "found a mapping, wanted a list"),
    "kind": (ONE + "claims:\n- lwa: x", (4, 3), "unknown key 'lwa' (did you mean 'law'?)"),
    "no kind": (ONE + "claims:\n- id: x", (4, 3), "this claim has no kind (give it one of the keys law, equation"),
    "two kinds": (ONE + "claims:\n- {law: x, order: 1 < 2}", (4, 12), "the kinds 'law' and 'order' in one claim"),
    "claim key": (ONE + "claims:\n- {law: convex-hull, shaeps: {}}", (4, 22), "did you mean 'shapes'?"),
    "why": (ONE + "claims:\n- uncheckable: x", (4, 3), "needs a reason (add `why: ...`)"),
    "id": (ONE + "claims:\n- {law: convex-hull, id: a b}", (4, 26), "found the id 'a b'"),
    "ids": (ONE + "claims:\n- {order: 1 < 2, id: a}\n- {order: 2 < 3, id: a}", (5, 3), "'a' stands for another claim"),
    "id of print": (
        ONE + "printed: {v: {rows: [0], values: [1, 0]}}\nclaims:\n- {law: convex-hull, id: v}",
        (5, 3),
        "printed numbers",
    ),
    "law list": (ONE + "claims:\n- law: [x]", (4, 8), "found a list, wanted text"),
    "equation": (ONE + "claims:\n- equation: 1 + = 2", (4, 17), "found '='"),
    "equation tower": (ONE + "claims:\n- equation: '[9**9**9] = x'", (4, 13), "too large"),
    "order": (ONE + "claims:\n- order: weights[0,0]", (4, 22), "a statement needs a relation"),
    "claim of which": (TWO + "claims:\n- order: weights[0,0] > 0", (6, 3), "the case has several problems"),
    "claim of none": ("version: 1\nclaims:\n- order: weights[0,0] > 0", (3, 3), "the case has none"),
    "format of others": (ONE + "runs: {formats: [fp16]}", (3, 18), "did you mean 'float16'?"),
    "format in capitals": (ONE + "runs: {formats: [BF16]}", (3, 18), "did you mean 'bfloat16'?"),
    "algorithm of others": (ONE + "runs: {algorithms: [flash]}", (3, 21), "did you mean 'online'?"),
    "format": (ONE + "runs: {formats: [float46]}", (3, 18), "did you mean 'float64'?"),
    "algorithm": (ONE + "runs: {algorithms: [nave]}", (3, 21), "did you mean 'naive'?"),
    "pattern": (ONE + "expect: {'weights[2': {verdict: fails}}", (3, 10), "wanted the id of a finding"),
    "range": (ONE + "expect: {'weights[0:2]': {verdict: fails}}", (3, 10), "wanted the id of a finding"),
    "verdict": (
        ONE + "expect: {a: {verdict: holds}}",
        (3, 23),
        "found 'holds', wanted 'fails' or 'undecided' or 'not_run'",
    ),
    "no verdict": (ONE + "expect: {a: {reason: new}}", (3, 13), "has no key 'verdict'"),
    "expect key": (ONE + "expect: {a: {verdict: fails, raeson: x}}", (3, 30), "did you mean 'reason'?"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_mistake_is_named_with_its_place(name: str) -> None:
    text, place, message = FILES[name]
    with pytest.raises(CaseError) as caught:
        loads(text, "file.yaml")
    said = [str(mistake) for mistake in caught.value.mistakes]
    hits = [m for m, words in zip(caught.value.mistakes, said, strict=True) if message in words]
    assert hits, said
    assert place in (None, (hits[0].line, hits[0].column)), said
    assert str(caught.value).startswith("file.yaml: ")


WITH_MORE = ("times", "twice inside")  # their problems are not complete either


@pytest.mark.parametrize("name", [name for name in FILES if name not in WITH_MORE])
def test_one_mistake_gives_one_message(name: str) -> None:
    with pytest.raises(CaseError) as caught:
        loads(FILES[name][0])
    assert len(caught.value.mistakes) == 1, str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("version: 1\ntitle: a: b\n", "  2 | title: a: b\n    |         ^"),
        ("version: 1\ntitle: 'a\n\n", "  2 | title: 'a\n    |        ^"),
        ("标题: a: b", "  1 | 标题: a: b\n    |        ^"),
        ("a\u202e: a: b", "  1 | a\\u202e: a: b\n    |           ^"),
        ("a: 'b' : c " + "d" * 99, "  1 | a: 'b' : c dddddddddddddddddddd...\n    |        ^"),
        ("x: " + "y" * 99 + ": c", "  1 | ..." + "y" * 44 + ": c\n    | " + " " * 47 + "^"),
    ],
)
def test_the_line_of_a_yaml_mistake_is_shown(text: str, shown: str) -> None:
    with pytest.raises(CaseError) as caught:
        loads(text)
    (mistake,) = caught.value.mistakes
    assert mistake.message.split("\n", 1)[1] == shown


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nproblm: {Q: [[1]]}\nprinted: {weights: [[1]], v: [[2]]}\nclaims:\n- order: weights[0,0] > 0",
        "version: 1\nProblems: {a: {}}\nprinted: {a:weights: [[1]]}\nclaims:\n- {order: q[0] > 0, problem: a}",
        "version: 1\nproblems: [1]\nprinted: {weights: [[1]]}",
        "version: 1\nproblem: {Q: [[1]], k: [[1]], V: [[1]]}\nprinted: {weights: [[1, 2]]}\nclaims:\n- order: x > 0",
        ONE + "printed: {v: [[1]]}\nclaims:\n- equation: printed.v[7] = 1",
    ],
)
def test_what_follows_from_a_mistake_is_no_other(text: str) -> None:
    with pytest.raises(CaseError) as caught:
        loads(text)
    assert len(caught.value.mistakes) == 1, str(caught.value)


def test_statements_name_what_the_checks_know() -> None:
    assert statements.STAGES == truth_statements.STAGES


def test_all_mistakes_are_reported_together_in_the_order_of_the_file() -> None:
    text = (
        ONE.replace("[1, 1]]", "[1, x]]") + "prinnted: {}\nprinted: {q: [[1, 2], [nan, 4], [5, 6]]}\n"
        "claims:\n- {lwa: x}\n- uncheckable: y\nexpect: {a: {verdict: no}}\n"
    )
    with pytest.raises(CaseError) as caught:
        loads(text)
    assert [mistake.line for mistake in caught.value.mistakes] == [2, 3, 4, 6, 7, 8]


def test_very_many_mistakes_are_cut_short() -> None:
    with pytest.raises(CaseError) as caught:
        loads(ONE + "claims:\n" + "- x\n" * 1000)
    assert len(caught.value.mistakes) == 51
    assert "other mistakes" in caught.value.mistakes[-1].message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"version: 1\n\x80", "the byte 0x80 at byte offset 11"),
        (b"\x89PNG\r\n\x1a\n", "the byte 0x89 at byte offset 0"),
        ("version: 1".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04\x00", "the control character"),
    ],
)
def test_what_is_no_text(data: bytes, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        loads(data)


def test_files_that_are_none(tmp_path) -> None:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "one.yaml").write_text("version: 1\n")
    with pytest.raises(CaseError, match=r"this is a directory, wanted a case file \(name the files in it, .*one.yaml"):
        load(tmp_path / "cases")
    with pytest.raises(CaseError, match=r"there is no such file \(did you mean .*one.yaml"):
        load(tmp_path / "cases" / "oen.yaml")
    with pytest.raises(CaseError, match="is not there either"):
        load(tmp_path / "no" / "one.yaml")
    with pytest.raises(CaseError, match="cannot be read"):
        load("a\0b")
    with pytest.raises(CaseError, match=r"a\\x1b\[31m: there is no such file"):
        load("a\x1b[31m")
