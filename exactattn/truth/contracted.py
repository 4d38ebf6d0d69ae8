"""Bounds of what rounding may do to attention: the one definition, run over every number that a contract allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from exactattn.attention.contract import PrecisionContract
from exactattn.attention.definition import stages
from exactattn.attention.spec import Head, Problem, Stage
from exactattn.errors import ProblemError
from exactattn.numbers import computed
from exactattn.numbers.arithmetic import Cells, Mask
from exactattn.numbers.balls import nearest
from exactattn.numbers.computed import OWN, Computed
from exactattn.numbers.exact import ONE, ZERO, Exact, Matrix, power
from exactattn.numbers.formats import FORMATS, Format
from exactattn.numbers.near import TINY, Floats
from exactattn.truth.one_head import OneHead, Rows


class ContractArithmetic:
    """`Computed` as an `Arithmetic`, with the formats of a contract.

    A number has the format of the first operand of what it comes from. Four operations move it on: `matmul_transposed`
    to that of scores, `shift` and what is subtracted from it to that of the softmax, `div_column` by a sum of
    exponentials to that of the weights, `matmul` to that of the output. Proofs: `numbers/computed.py`.
    """

    name = "contract"

    def __init__(self, contract: PrecisionContract) -> None:
        self.contract = contract

    def lift(self, matrix: Matrix | Floats | Computed, fmt: Format | None = None) -> Computed:
        """Numbers of a format, that of the inputs where none is named; rounded where they are none of it."""
        if isinstance(matrix, Computed):
            return matrix
        fmt = fmt or self.contract.inputs
        if isinstance(matrix, np.ndarray):
            mid, own = np.asarray(matrix, dtype=np.float64), np.zeros(matrix.shape)
        else:
            pairs = [[_number(x) for x in row] for row in matrix]
            mid, own = (np.array([[pair[i] for pair in row] for row in pairs], dtype=np.float64) for i in (0, 1))
        is_known = (own == 0) & computed.member(mid, fmt)
        return Computed(mid, np.where(is_known, 0.0, computed.rounded(mid, own, fmt).err), fmt)

    def override(self, a: Computed, cells: Cells) -> Computed:
        """A copy with some exact numbers."""
        mid, err = a.mid.copy(), a.err.copy()
        for index, x in cells.items():
            one = self.lift(((x,),), a.fmt)
            mid[index], err[index] = one.mid[0, 0], one.err[0, 0]
        return Computed(mid, err, a.fmt, a.wobble)

    def matmul(self, a: Computed, b: Computed) -> Computed:
        """The product, in the format of the output."""
        return computed.product(a, b, self.contract.accumulation, self.contract.output)

    def matmul_transposed(self, a: Computed, b: Computed) -> Computed:
        """a times the transpose of b, in the format of the scores."""
        turned = Computed(b.mid.T, b.err.T, b.fmt)
        return computed.product(a, turned, self.contract.accumulation, self.contract.scores)

    def transposed_matmul(self, a: Computed, b: Computed) -> Computed:
        """The transpose of a times b, in the format of the output."""
        return self.matmul(Computed(a.mid.T, a.err.T, a.fmt), b)

    def scale(self, a: Computed, factor: Exact) -> Computed:
        """Times one number f; a run rounds it up to twice where it is no number of the format, or divides by 1/f.

        Proof: two roundings err by at most (1 + u)^2 - 1, as `rounded` twice says; 1/f, rounded to a normal number,
        errs by u of it, and what is divided by it by u/(1 - u), which is less.
        """
        if factor == ONE:
            return a
        f = self.lift(((factor,),), a.fmt)
        if f.err[0, 0] > 0:
            f = computed.rounded(f.mid, f.err, a.fmt)
        wide = Computed(np.broadcast_to(f.mid, a.shape), np.broadcast_to(f.err, a.shape), a.fmt)
        return computed.times(a, wide, a.fmt)

    def add(self, a: Computed, b: Computed) -> Computed:
        """The sum. What has a wobble on both sides has it on; a shift and the logarithm of a sum lose it together."""
        both = a.wobble if a.wobble is not None and not _is_shift(a) and b.wobble is not None else None
        return computed.total(a, b, a.fmt, wobble=both)

    def sub(self, a: Computed, b: Computed) -> Computed:
        """The difference."""
        return computed.total(a, b, a.fmt, -1)

    def mul(self, a: Computed, b: Computed) -> Computed:
        """The product, element by element."""
        return computed.times(a, b, a.fmt)

    def fill(self, a: Computed, where: Mask, x: Exact) -> Computed:
        """A copy with one exact number in some places."""
        one = self.lift(((x,),), a.fmt)
        return Computed(np.where(where, one.mid, a.mid), np.where(where, one.err, a.err), a.fmt, a.wobble)

    def sub_column(self, a: Computed, column: Computed) -> Computed:
        """Each row minus its element; minus a shift, in the format of the softmax."""
        if _is_shift(column):
            return computed.shifted(computed.cast(a, column.fmt), column)
        assert (a.wobble is None) == (column.wobble is None)  # both are off by the same number, or neither is
        return computed.total(a, _wide(column, a), a.fmt, -1)

    def mul_column(self, a: Computed, column: Computed) -> Computed:
        """Each row times its element."""
        return computed.times(a, _wide(column, a), a.fmt)

    def div_column(self, a: Computed, column: Computed) -> Computed:
        """Each row divided by its element; an exponential by a sum of them, in the format of the weights."""
        out = computed.quotient(a, _wide(column, a), a.fmt)
        return out if a.wobble is None else computed.cast(out, self.contract.weights)

    def shift(self, a: Computed, allowed: Mask, carried: tuple[Computed, Mask] | None = None) -> Computed:
        """The largest of the row and of a sink, in the format of the softmax; only of a softmax in one piece."""
        a = computed.cast(a, self.contract.softmax)
        if carried is not None:
            other, there = carried
            assert other.wobble is None
            a = self.join([a, computed.cast(other, self.contract.softmax)])
            allowed = np.concatenate([allowed, there], axis=1)
        return _Shift.of(computed.shift(a, allowed))

    def exp(self, a: Computed, allowed: Mask) -> Computed:
        """The exponential where allowed, exact zero elsewhere."""
        return computed.exp(computed.cast(a, self.contract.softmax), allowed, self.contract.ulps)

    def log(self, a: Computed) -> Computed:
        """The natural logarithm."""
        return computed.log(a, self.contract.ulps)

    def tanh(self, a: Computed) -> Computed:
        """The hyperbolic tangent."""
        return computed.tanh(a, self.contract.ulps)

    def sqrt(self, a: Computed) -> Computed:
        """The square root."""
        return computed.sqrt(a)

    def row_sum(self, a: Computed) -> Computed:
        """The sum of each row."""
        return computed.row_sum(a, self.contract.accumulation)

    def columns(self, a: Computed, start: int, stop: int) -> Computed:
        """Columns start, ..., stop - 1."""
        return Computed(a.mid[:, start:stop], a.err[:, start:stop], a.fmt, a.wobble)

    def take(self, a: Computed, places: Sequence[int]) -> Computed:
        """The columns at these places."""
        order = list(places)
        return Computed(a.mid[:, order], a.err[:, order], a.fmt, a.wobble)

    def rows(self, a: Computed, start: int, stop: int) -> Computed:
        """Rows start, ..., stop - 1."""
        wobble = None if a.wobble is None else a.wobble[start:stop]
        return Computed(a.mid[start:stop], a.err[start:stop], a.fmt, wobble)

    def join(self, parts: Sequence[Computed]) -> Computed:
        """The parts side by side."""
        mid, err = (np.concatenate([getattr(part, name) for part in parts], axis=1) for name in ("mid", "err"))
        return Computed(mid, err, parts[0].fmt, parts[0].wobble)


class _Shift(Computed):
    """What is subtracted from the scores of a row: that of the run lies within the wobble of it."""

    __slots__ = ()

    @staticmethod
    def of(x: Computed) -> _Shift:
        return _Shift(x.mid, x.err, x.fmt, x.wobble)


def _is_shift(x: Computed) -> bool:
    return isinstance(x, _Shift)


def _wide(column: Computed, a: Computed) -> Computed:
    """A column as wide as an array."""
    return Computed(np.broadcast_to(column.mid, a.shape), np.broadcast_to(column.err, a.shape), column.fmt)


def _number(x: Exact) -> tuple[float, float]:
    """x to the nearest float64, and no less than how far off that is."""
    near = nearest(x, FORMATS["float64"])
    exact = isinstance(x, Fraction) and bool(np.isfinite(near)) and Fraction(near) == x
    return near, 0.0 if exact else OWN * abs(near) + TINY


def contracted(problem: Problem, contract: PrecisionContract, stage: Stage = Stage.CONTEXT) -> Computed:
    """Every number that a run of one head may hold at a stage, which has been rounded to the format that follows.

    Exact value: that of the problem. With `scale_place` "both", q and k are multiplied by the root of the scale and
    there is no scale on the scores: their product is the same real number.

    Errors: ProblemError for a root of a scale that is not positive, or of one that a norm or rotation comes before.
    """
    ar = ContractArithmetic(contract)
    if contract.scale_place == "both":
        problem = _with_roots(problem, ar)
    return stages(problem, ar, until=stage)[stage, 0]


def _with_roots(problem: Problem, ar: ContractArithmetic) -> Problem:
    """The same problem with the scale on q and k."""
    spec, scale = problem.spec, problem.scale
    if spec.rotary is not None or spec.qk_norm is not None or spec.bias_place == "inside":
        raise ProblemError("the root of the scale on q and k goes with plain queries and keys only")
    if isinstance(scale, Fraction) and scale <= ZERO:
        raise ProblemError(f"the scale {scale} has no positive root to put on q and on k: scale_place is scores")
    root, head = power(scale, Fraction(1, 2)), problem.heads[0]
    assert head.q is not None
    assert head.k is not None
    assert head.v is not None
    q, k = (ar.scale(computed.cast(ar.lift(x), ar.contract.scores), root) for x in (head.q, head.k))
    made = Head(q=q, k=k, v=head.v)  # type: ignore[arg-type]  # a problem measures its matrices and hands them on
    return replace(problem, heads=(made,), spec=replace(spec, scale=ONE))


def contracted_rows(head: OneHead, rows: Rows, contract: PrecisionContract, stage: Stage = Stage.CONTEXT) -> Computed:
    """The same of some query rows of a head of tensors."""
    return contracted(head.problem(rows), contract, stage)
