"""Units in the last place of whole arrays, in float64."""

from __future__ import annotations

import numpy as np

from exactattn.numbers.formats import Format
from exactattn.numbers.near import Floats


def spacing(size: Floats, fmt: Format) -> Floats:
    """The ulp of a format at magnitudes that float64 holds: `Format.ulp` of each. Exact. NaN gives NaN.

    Proof: frexp gives 2**(e - 1) <= size < 2**e exactly; a power of two is exact down to the smallest float64.
    """
    exponent = np.where(size == 0, fmt.emin, np.frexp(size)[1] - 1)
    unit = np.ldexp(1.0, np.maximum(exponent, fmt.emin) - fmt.precision + 1)
    return np.where(np.isfinite(size), unit, np.nan)
