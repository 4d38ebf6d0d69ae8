"""Check `print-noise`: last digits that differ only because a program computed in single or double precision."""

from __future__ import annotations

from collections.abc import Iterator

from exactattn.bench import Bench
from exactattn.findings import Finding, Verdict
from exactattn.truth.prints import NOISE_DIGITS, NOISE_ULPS, Judged, is_noise


class PrintNoise:
    """One remark on each block whose last printed digits carry the rounding errors of a program."""

    name = "print-noise"
    CODES = {
        "EA109": "Some last printed digits are neither rounded nor cut: they carry the rounding errors of a program "
        "that computed in the float format named. Within 4 ulp of it they hold as `float-noise` where the block states "
        "that `dtype` (float64 needs none); print fewer digits than it carries, 15 or 7, and the noise is gone.",
    }

    def run(self, bench: Bench) -> Iterator[Finding]:
        """One finding a block."""
        blocks: dict[str, list[Judged]] = {}
        for item in bench.judged:
            blocks.setdefault(item.block.name, []).append(item)
        for name, items in blocks.items():
            for dtype in NOISE_DIGITS:
                noisy = [item for item in items if self._is(bench, item, dtype)]
                if noisy:
                    yield self._finding(bench, name, dtype, noisy, len(items))

    @staticmethod
    def _is(bench: Bench, item: Judged, dtype: str) -> bool:
        """Is a number off in its last digits, as one of this format would be? A narrower format was tried before."""
        if item.reason == "float-noise":
            return (item.block.dtype or "float64") == dtype
        stated = item.block.dtype is not None or item.cell.value is None
        if item.reason != "new" or stated or dtype == "float64" or bench.referee.unknown(item.element):
            return False
        return is_noise(bench.referee, item, dtype)

    def _finding(self, bench: Bench, name: str, dtype: str, noisy: list[Judged], count: int) -> Finding:
        said = noisy[0].reason == "float-noise"
        hint = "" if said else f"; state `dtype: {dtype}` if a program printed these"
        message = (
            f"{len(noisy)} of {count} numbers differ from the true value by no more than {NOISE_ULPS} ulp of {dtype}: "
            f"noise of {'single' if dtype == 'float32' else 'double'} precision in the last digit{hint}"
        )
        return bench.finding(
            self, "EA109", f"noise:{name}/{dtype}", Verdict.HOLDS, message, where=noisy[0].cell.where,
            dtype=dtype, numbers=len(noisy), of=count,
        )  # fmt: skip


CHECK = PrintNoise()
