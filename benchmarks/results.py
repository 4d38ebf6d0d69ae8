"""One line of the table of targets, and the fastest of several contenders that take turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """A target of the design and what was measured; `quality` is what it counts only with."""

    id: str
    work: str
    target: str
    measured: str
    quality: str = ""

    def row(self) -> str:
        """As a row of a Markdown table."""
        return f"| {self.id} | {self.work} | {self.target} | {self.measured} | {self.quality} |"


HEAD = "| id | work | target | measured | counts only with |\n|---|---|---|---|---|"


def best(contenders: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The shortest time of each in seconds, over rounds in which all take turns."""
    times = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def fastest(times: Mapping[str, float]) -> dict[str, tuple[float, str]]:
    """Of contenders named KIND/BLOCK, the shortest time of each kind, and its block."""
    out: dict[str, tuple[float, str]] = {}
    for label, t in times.items():
        kind, _, block = label.partition("/")
        out[kind] = min(out.get(kind, (t, block)), (t, block))
    return out
