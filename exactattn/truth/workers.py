"""Worker processes: warm Python processes that do independent pieces of work, for libraries that hold Python's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from types import TracebackType
from typing import TypeVar

from exactattn.errors import ProblemError, Unavailable

MOST_WORKERS = 256
T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """So many processes from `with` to its end; the same pieces of work give the same results whatever the number.

    Each process is a fresh Python ("spawn": a fork would copy locks that threads of a library hold), with one thread.
    One worker is this process itself.
    """

    def __init__(self, count: int = 1) -> None:
        """Errors: ProblemError for a count that makes no sense."""
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_WORKERS:
            raise ProblemError(f"{count!r} workers: give a whole number from 1 to {MOST_WORKERS}")
        self.count = count
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        """Starts the processes; they import what they need while the caller goes on."""
        if self.count > 1:
            self._pool = ProcessPoolExecutor(self.count, get_context("spawn"), initializer=_one_thread)
            for _ in range(self.count):
                self._pool.submit(_one_thread)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Ends them; after an error, without starting what waits."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def map(self, function: Callable[[T], R], pieces: Iterable[T]) -> list[R]:
        """function of every piece, in their order. Errors: Unavailable when a process was ended from outside."""
        if self._pool is None:
            return [function(piece) for piece in pieces]
        try:
            return list(self._pool.map(function, pieces))
        except BrokenProcessPool as error:
            raise Unavailable(
                f"one of {self.count} worker processes ended before its work was done: the memory may be too small for "
                "so many, or the script that asks for workers has no `if __name__ == '__main__':`"
            ) from error


def _one_thread() -> None:
    """Pins what runs in a worker to one thread; BLAS has no part in it."""
    import flint

    flint.ctx.threads = 1
