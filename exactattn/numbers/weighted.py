"""Real numbers near floats whose radius follows the elements of another array, as P o (dP - delta) follows P."""

from __future__ import annotations

import numpy as np

from exactattn.numbers.near import Floats, Near, summed_up, up


class Weighted(Near):
    """A matrix of real numbers x with |x - mid| <= rel*|mid| + own + part*W and |mid| <= limit*W, W not negative.

    Shapes: mid, W (n, m); rel, own (n or 1, m or 1); part and limits (n, 1), or (1, m) in a transpose. Whoever knows
    nothing of W reads `abs`, which is no less than own + part*W and holds for a whole row; sizes are made from W's.
    """

    def __init__(self, mid: Floats, rel: Floats, own: Floats, part: Floats, limits: Floats, weight: Near) -> None:
        super().__init__(mid, rel, own)
        self.own, self.part, self.limits, self.weight = own, part, limits, weight

    @property
    def abs(self) -> Floats:
        """The absolute part of the radius, of each row."""
        return np.asarray(up(self.own + self.part * self.weight.most(self._along)))

    @property
    def _along(self) -> int:
        return 1 if self.part.shape[1] == 1 else 0

    def transposed(self) -> Weighted:
        """Rows and columns exchanged."""
        turned = self.weight.transposed()
        return Weighted(self.mid.T, self.rel.T, self.own.T, self.part.T, self.limits.T, turned)

    def summed(self, factors: Floats, axis: int = 1) -> Floats:
        """No less than the sum of factors times W along an axis, which stays with length 1."""
        if factors.shape[axis] == 1:
            return np.asarray(up(factors * self.weight.one(axis)))
        made = self.weight.mid @ factors.T if axis == 1 else factors.T @ self.weight.mid
        return np.asarray(summed_up(made, self.shape[axis]))

    def two(self, axis: int) -> Floats:
        """No less than the Euclidean norm of mid along an axis.

        Proof: along the rows that have limits, limit times that of W; along the other axis, the sum of (limit W)^2 is
        at most the largest W times the sum of limit^2 W.
        """

        def norm() -> Floats:
            if self.limits.shape[axis] == 1:
                return np.asarray(up(self.limits * self.weight.two(axis)))
            top = self.weight.ceiling or self.weight.most(self._along).max()
            return np.asarray(np.sqrt(up(top * self.summed(up(self.limits * self.limits), axis))) * (1 + 2.0**-50))

        return self.size("two", axis, norm)

    def times(self, factors: Floats, b: Near) -> Floats:
        """No less than sum_l factors W_il |B_lj|, for every j. Shapes: factors as limits, b (m, p) -> (n, 1).

        Proof: where factors belong to l, |B_lj| is at most the largest of its row; else Cauchy-Schwarz, or the largest
        of all.
        """
        if factors.shape[0] == 1:
            return self.summed(np.asarray(up(factors * b.most(1).T)))
        size = np.minimum(self.weight.two(1) * b.two(0).max(), self.weight.one(1) * b.most(0).max())
        return np.asarray(up(factors * size))

    def limit(self) -> Floats:
        """No less than |mid| in each row."""
        top = self.weight.ceiling or self.weight.most(self._along).max()
        return np.asarray(up(self.limits * top)) if self.limits.shape[1] == 1 else self.most(1)
