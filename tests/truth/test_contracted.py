"""Bounds of what a contract allows, against runs that keep it: NumPy's, and drawn ones as bad as it lets them.

A drawn run (`AnyRun`) is a second `Arithmetic`: it rounds exact rationals by `Format`, adds in a drawn order, and moves
exp, tanh and log by up to the ulps of the contract.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import ml_dtypes
import numpy as np
import pytest
from mpmath import mp
from mpmath.libmp import to_rational

from exactattn import plugins
from exactattn.attention.contract import PrecisionContract
from exactattn.attention.definition import stages
from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.errors import ProblemError
from exactattn.numbers.balls import nearest
from exactattn.numbers.exact import power
from exactattn.numbers.formats import FORMATS
from exactattn.truth.blocks import enclose_heads
from exactattn.truth.contracted import ContractArithmetic, contracted_rows
from exactattn.truth.tensors import Tensors

STAGES = (Stage.SCALED, Stage.WEIGHTS, Stage.LSE, Stage.CONTEXT)
DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
ROUND_ALL = np.vectorize(lambda x, fmt: fmt.round(x), otypes=[float])


class Held:
    """Numbers of a format: float64 arrays."""

    def __init__(self, x, fmt):
        self.x, self.fmt = np.asarray(x, dtype=np.float64), fmt

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index]


class AnyRun:
    """A run under a contract, as an arithmetic; the formats move on as the contract says."""

    def __init__(self, contract, rng):
        self.contract, self.rng = contract, rng

    def rounded(self, exact, fmt):
        flat = [fmt.round(x) for x in np.asarray(exact, dtype=object).ravel()]
        return Held(np.array(flat).reshape(np.shape(exact)), fmt)

    @staticmethod
    def exact(a):
        return np.vectorize(F, otypes=[object])(a.x)

    def lift(self, matrix):
        if isinstance(matrix, Held):
            return matrix
        if not isinstance(matrix, np.ndarray):
            matrix = np.array([[nearest(x, FORMATS["float64"]) for x in row] for row in matrix])
        return Held(ROUND_ALL(matrix, self.contract.inputs), self.contract.inputs)

    def cast(self, a, fmt):
        return self.rounded(self.exact(a), fmt)

    def override(self, a, cells):
        out = a.x.copy()
        for index, x in cells.items():
            out[index] = a.fmt.round(x)
        return Held(out, a.fmt)

    def fill(self, a, where, x):
        return Held(np.where(where, a.fmt.round(x), a.x), a.fmt)

    def added(self, terms, acc):
        out = 0.0
        for i in self.rng.permutation(len(terms)):
            out = acc.round(F(out) + F(terms[i]))
        return out

    def product(self, a, b, fmt):
        acc = self.contract.accumulation
        out = np.empty((len(a), b.shape[1]))
        for i, j in np.ndindex(*out.shape):
            out[i, j] = self.added([acc.round(F(s) * F(t)) for s, t in zip(a[i], b[:, j], strict=True)], acc)
        return Held(ROUND_ALL(out, fmt), fmt)

    def matmul(self, a, b):
        return self.product(a.x, b.x, self.contract.output)

    def matmul_transposed(self, a, b):
        return self.product(a.x, b.x.T, self.contract.scores)

    def scale(self, a, factor):
        if factor == 1:
            return a
        near = nearest(factor, FORMATS["float64"])
        f = F(a.fmt.round(near))
        if factor != f:  # which a run rounds twice
            f += int(self.rng.integers(-1, 2)) * a.fmt.ulp(f) / 2
        return self.rounded(self.exact(a) * F(a.fmt.round(f)), a.fmt)

    def add(self, a, b):
        return self.rounded(self.exact(a) + self.exact(b), a.fmt)

    def mul(self, a, b):
        return self.rounded(self.exact(a) * self.exact(b), a.fmt)

    def sub_column(self, a, column):
        a = self.cast(a, column.fmt)
        return self.rounded(self.exact(a) - self.exact(column), a.fmt)

    def div_column(self, a, column):
        out = self.rounded(self.exact(a) / self.exact(column), a.fmt)
        return self.cast(out, self.contract.weights) if a.fmt is self.contract.softmax else out

    def shift(self, a, allowed, carried=None):
        a = self.cast(a, self.contract.softmax)
        if carried is not None:
            other, there = carried
            a = Held(np.concatenate([a.x, self.cast(other, a.fmt).x], axis=1), a.fmt)
            allowed = np.concatenate([allowed, there], axis=1)
        largest = np.max(a.x, axis=1, keepdims=True, where=allowed, initial=-np.inf)
        return Held(np.where(allowed.any(axis=1, keepdims=True), largest, 0.0), a.fmt)

    def function(self, name, a):
        out, ulps = np.empty(a.x.shape), self.contract.ulps
        for index in np.ndindex(*out.shape):
            with mp.workdps(40):
                y = F(*to_rational(getattr(mp, name)(mp.mpf(a.x[index]))._mpf_))
            wrong = F(int(self.rng.choice([-1, 1])) * (2 * ulps - 1), 2) if y else 0
            out[index] = a.fmt.round(y + wrong * a.fmt.ulp(y))
        return Held(out, a.fmt)

    def exp(self, a, allowed):
        out = self.function("exp", Held(np.where(allowed, a.x, 0.0), a.fmt))
        return Held(np.where(allowed, out.x, 0.0), a.fmt)

    def log(self, a):
        return self.function("log", a)

    def tanh(self, a):
        return self.function("tanh", a)

    def sqrt(self, a):
        return Held(ROUND_ALL(np.sqrt(a.x), a.fmt), a.fmt)

    def row_sum(self, a):
        return Held([[a.fmt.round(self.added(row, self.contract.accumulation))] for row in a.x], a.fmt)

    def take(self, a, places):
        return Held(a.x[:, list(places)], a.fmt)


def drawn(seed, dtype, plain=False, queries=3, keys=5):
    """Tensors of a type with a few options; `plain` ones have none that comes before the scores."""
    rng = np.random.default_rng(seed)
    some = lambda p=0.4: rng.random() < p  # noqa: E731
    d = 4
    q, k, v = (rng.standard_normal(shape).astype(dtype) for shape in ((queries, d), (keys, d), (keys, 2)))
    cap = F(int(rng.integers(1, 8)), 2) if some() else None
    spec = AttentionSpec(
        scale=[None, F(1), F(1, 3)][rng.integers(3)],
        causal=str(rng.choice(["none", "top-left", "bottom-right"])),
        window=(1, None) if some(0.3) else (None, None),
        softcap=cap,
        softcap_order=str(rng.choice(["before-bias", "after-mask"])) if cap else "before-bias",
        alibi=Alibi((F(1, 4),)) if some(0.3) else None,
        rotary=Rotary(base=F(100)) if some(0.3) and not plain else None,
        qk_norm=QKNorm(eps=F(1, 1024)) if some(0.3) and not plain else None,
        masked_row=str(rng.choice(["zero", "uniform"])),
    )
    bias = rng.standard_normal((queries, keys)).astype(dtype).astype(np.float64) if some() else None
    mask = rng.random((queries, keys)) < 0.8 if some() else None
    return Tensors.of(q, k, v, spec, mask, bias, sinks=[0.5] if some(0.3) else None)


def error_parts(head, found, contract, stage):
    """The errors of a run in bounds, where it has a value; asserts that none is above 1."""
    rows = np.arange(head.lengths[0])
    (truth,) = enclose_heads([(head, None)], stage, sharp=True)
    bound = contracted_rows(head, rows, contract, stage)
    there = truth.defined & np.isfinite(bound.err)
    limit = bound.err + np.abs(bound.mid - truth.mid) + truth.rad
    error = np.abs(np.asarray(found, dtype=np.float64) - truth.mid)
    assert (error <= limit * (1 + 1e-12))[there].all()
    return (error[there & (limit > 1e-300)] / limit[there & (limit > 1e-300)]).tolist()


@pytest.mark.parametrize("name", ["float32", "float16"])
def test_numpy_runs_keep_the_contract(name, record_property):
    """The one definition in NumPy's own floats, every option, all stages."""
    contract, parts = PrecisionContract.uniform(FORMATS[name]), []
    for seed in range(40):
        head = drawn(seed, DTYPES[name], queries=6, keys=40).heads[0]
        run = stages(
            head.problem(np.arange(6)),
            plugins.get("engines", "hardware").arithmetic(FORMATS[name]),
            until=Stage.CONTEXT,
        )
        for stage in STAGES:
            parts += error_parts(head, run[stage, 0], contract, stage)
    record_property("largest error in bounds", max(parts))
    assert 0.1 < max(parts) <= 1


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_with_the_root_of_the_scale_on_q_and_k(name, record_property):
    """As ONNX's reference computes; bfloat16 through ml_dtypes."""
    dtype, parts = DTYPES[name], []
    contract = PrecisionContract.uniform(FORMATS[name], scale_place="both")
    for seed in range(60):
        rng = np.random.default_rng(seed)
        q, k, v = (rng.standard_normal(shape).astype(dtype) for shape in ((6, 8), (30, 8), (30, 4)))
        root = dtype(np.sqrt(1 / np.sqrt(8)))
        s = ((q * root) @ (k * root).T).astype(dtype)
        p = np.exp(s - s.max(axis=1, keepdims=True))
        w = (p / p.sum(axis=1, keepdims=True)).astype(dtype)
        head = Tensors.of(q, k, v).heads[0]
        for stage, found in ((Stage.SCALED, s), (Stage.WEIGHTS, w), (Stage.CONTEXT, (w @ v).astype(dtype))):
            parts += error_parts(head, found, contract, stage)
    record_property("largest error in bounds", max(parts))
    assert 0.05 < max(parts) <= 1


CONTRACTS = {
    "float16": PrecisionContract.uniform(FORMATS["float16"]),
    "bfloat16": PrecisionContract.uniform(FORMATS["bfloat16"]),
    "bfloat16, sums in float32": PrecisionContract.uniform(FORMATS["bfloat16"], accumulation=FORMATS["float32"]),
    "float16, softmax in float32": PrecisionContract.uniform(FORMATS["float16"], softmax=FORMATS["float32"]),
    "float32, softmax in bfloat16": PrecisionContract.uniform(FORMATS["float32"], softmax=FORMATS["bfloat16"]),
    "weights in e4m3fn": replace(PrecisionContract.uniform(FORMATS["bfloat16"]), weights=FORMATS["e4m3fn"]),
    "float16, sums and softmax in float32": PrecisionContract.uniform(
        FORMATS["float16"], softmax=FORMATS["float32"], accumulation=FORMATS["float32"]
    ),
    "scores in float32": replace(
        PrecisionContract.uniform(FORMATS["float16"]), scores=FORMATS["float32"], accumulation=FORMATS["float32"]
    ),
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_the_worst_runs_keep_the_contract(name, record_property):
    contract, parts = CONTRACTS[name], []
    dtype = DTYPES[contract.inputs.name]
    for seed in range(14):
        head = drawn(seed, dtype).heads[0]
        problem = head.problem(np.arange(3))
        run = stages(problem, AnyRun(contract, np.random.default_rng(seed)), until=Stage.CONTEXT)
        for stage in STAGES:
            parts += error_parts(head, run[stage, 0].x, contract, stage)
    record_property("largest error in bounds", max(parts))
    assert 0.2 < max(parts) <= 1


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_the_worst_runs_with_the_root_on_q_and_k(name):
    contract = replace(CONTRACTS[name], scale_place="both")
    for seed in range(12):
        head = drawn(seed, DTYPES[name], plain=True).heads[0]
        problem = head.problem(np.arange(3))
        run = AnyRun(contract, np.random.default_rng(seed))
        root, one = power(problem.scale, F(1, 2)), problem.heads[0]
        q, k = (run.scale(run.lift(x), root) for x in (one.q, one.k))
        scaled = replace(problem, heads=(replace(one, q=q, k=k),), spec=replace(problem.spec, scale=F(1)))
        done = stages(scaled, run, until=Stage.CONTEXT)
        for stage in (Stage.WEIGHTS, Stage.CONTEXT):
            error_parts(head, done[stage, 0].x, contract, stage)


def test_large_scores_are_rounded_to_a_narrow_softmax_before_the_largest_is_taken_off():
    """Scores near 100, of which bfloat16 keeps halves: their differences are small, their errors are not."""
    contract, parts = CONTRACTS["float32, softmax in bfloat16"], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, 2), (3, 2), (3, 2)))
        bias = (100 + 0.1 * rng.standard_normal((2, 3))).astype(np.float32).astype(np.float64)
        head = Tensors.of(q, k, v, AttentionSpec(scale=F(1, 64)), bias=bias).heads[0]
        run = stages(head.problem(np.arange(2)), AnyRun(contract, rng), until=Stage.CONTEXT)
        parts += error_parts(head, run[Stage.WEIGHTS, 0].x, contract, Stage.WEIGHTS)
    assert max(parts) <= 1


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_a_factor_that_is_rounded_twice(name):
    """Every number of one binade times factors that are as far off as two roundings allow."""
    fmt, worst = FORMATS[name], 0.0
    ar = ContractArithmetic(PrecisionContract.uniform(fmt))
    numbers = np.ldexp(np.arange(2 ** (fmt.precision - 1), 2**fmt.precision), 1 - fmt.precision)[np.newaxis, ::3]
    for factor in (F(1, 3), F(1, 5), F(5, 7), F(9, 11), F(101, 200)):
        bound = ar.scale(ar.lift(numbers), factor)
        low = fmt.round(factor)
        other = fmt.next_up(low) if F(low) < factor else fmt.next_down(low)
        for f in (low, other):
            run = np.array([[fmt.round(F(x) * F(f)) for x in numbers[0]]])
            part = np.abs(run - bound.mid) / bound.err
            worst = max(worst, float(part.max()))
            assert (part <= 1).all()
    assert worst > 0.5


def test_a_row_without_keys_and_a_blocked_key_have_nothing_to_round():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, 4), (3, 4), (3, 2)))
    mask = np.array([[True, False, True], [False, False, False]])
    head = Tensors.of(q, k, v, AttentionSpec(masked_row="zero"), mask).heads[0]
    contract = PrecisionContract.uniform(FORMATS["float32"], scale_place="both")
    weights = contracted_rows(head, np.arange(2), contract, Stage.WEIGHTS)
    assert ((weights.err == 0) == ~mask).all()
    assert (contracted_rows(head, np.arange(2), contract).err[1] == 0).all()


def test_a_wider_contract_has_a_wider_bound():
    head = drawn(3, np.float16, plain=True).heads[0]
    errors = [
        contracted_rows(head, np.arange(3), CONTRACTS[name]).err.max()
        for name in ("float16, sums and softmax in float32", "float16, softmax in float32", "float16", "bfloat16")
    ]
    assert errors == sorted(set(errors))


@pytest.mark.parametrize(
    ("spec", "text"),
    [(AttentionSpec(scale=F(-1)), "no positive root"), (AttentionSpec(qk_norm=QKNorm()), "plain queries")],
)
def test_a_root_that_is_not_there_is_refused(spec, text):
    head = Tensors.of(*(np.ones((2, 2)),) * 3, spec).heads[0]
    with pytest.raises(ProblemError, match=text):
        contracted_rows(head, np.arange(2), PrecisionContract.uniform(FORMATS["float32"], scale_place="both"))
