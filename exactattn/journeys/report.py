"""Journey `report`: files of tensors -> a report: the problem, its truth, how far what a program gave is from it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.spec import Stage
from exactattn.documents.specs import Inputs, SpecFile, load_spec, plain_spec
from exactattn.errors import ProblemError, UsageError, close
from exactattn.findings import Finding, Report, Reports, Subject
from exactattn.journeys.tensor_findings import Judged, Looked, Told, findings_of
from exactattn.journeys.tensor_gradients import GRADIENTS, judged_gradients, unjudged_gradients
from exactattn.journeys.verify import environment
from exactattn.numbers.balls import MOST_BITS, TooCoarse
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import Format, format_named
from exactattn.tensors.files import read_tensors
from exactattn.truth.blocks import enclose_heads
from exactattn.truth.not_finite import not_finite
from exactattn.truth.one_head import Rows
from exactattn.truth.outputs import format_of, per_head, sampled
from exactattn.truth.tally import HALF, ONE, Place, Tally, climbed, correctly_rounded, measured

STAGES = {Stage.CONTEXT: "output", Stage.LSE: "lse", Stage.WEIGHTS: "weights"}  # and the role of what is judged
CHUNK = 2**22  # elements of a stage that are held at once
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """rows: how many query rows of all heads are drawn, None for every one; seed of the draw; stage: the only one that
    is looked at; fmt: the format that outputs are judged in; within: ulps that no error may exceed; workers: threads.
    """

    rows: int | None = 256
    seed: int = 0
    stage: str | None = None
    fmt: str | None = None
    within: float | None = None
    workers: int = 1

    def as_command(self) -> tuple[str, ...]:
        """The options that differ from the default, as they are typed."""
        default = ReportOptions()
        said = (
            ("--rows", "all" if self.rows is None else self.rows, default.rows),
            ("--seed", self.seed, default.seed),
            ("--stage", self.stage, default.stage),
            ("--format", self.fmt, default.fmt),
            ("--within", None if self.within is None else f"{self.within:.15g}", default.within),
            ("--workers", self.workers, default.workers),
        )
        return tuple(word for name, value, usual in said if value != usual for word in (name, str(value)))


def report(
    files: str | Path | Sequence[str | Path],
    spec: str | Path | None = None,
    options: ReportOptions | None = None,
    progress: Progress | None = None,
) -> Reports:
    """What the tensors of some files truly give, and how far the outputs in them are from that.

    Errors: CaseError for a spec or tensors that do not go with it, TensorError for a file, ProblemError for tensors
    that make no sense together, UsageError for an option.
    """
    options = options or ReportOptions()
    paths = [str(path) for path in ([files] if isinstance(files, (str, Path)) else files)]
    said = plain_spec(", ".join(paths)) if spec is None else load_spec(str(spec))
    stage, fmt = _stage(options.stage), None if options.fmt is None else format_named(options.fmt)
    inputs = said.inputs(arrays_of(paths, said))
    try:
        look = _Look(inputs, options, stage, fmt, progress or (lambda *_: None))
        findings = look.findings(_told(paths, said, inputs, options))
    except TooCoarse as error:
        raise ProblemError(f"some numbers are too large or too close to enclose at {MOST_BITS} bits: {error}") from None
    given = () if spec is None else ("--spec", str(spec))
    digest = _sha256(paths[0]) if len(paths) == 1 else None
    subject = Subject("tensors", ", ".join(Path(path).name for path in paths), ", ".join(paths), digest)
    return Reports(
        command=("report", *paths, *given, *options.as_command()),
        reports=(Report(subject, tuple(findings)),),
        seed=options.seed,
        tool={"name": "exactattn", "version": version("exactattn")},
        environment=environment(),
    )


def arrays_of(paths: Sequence[str], said: SpecFile) -> dict[str, NDArray[Any]]:
    """All tensors of some files by name. Errors: TensorError, or UsageError for a name that two files have."""
    arrays: dict[str, NDArray[Any]] = {}
    homes: dict[str, str] = {}
    single = {Path(path).stem for path in paths if path.lower().endswith(".npy")}
    for path in paths:
        own = set(said.dtypes)
        if len(paths) > 1:
            own = {Path(path).stem} if path.lower().endswith(".npy") else own - single
        dtypes = {name: dtype for name, dtype in said.dtypes.items() if name in own}
        for name, array in read_tensors(path, dtypes=dtypes).items():
            if name in arrays:
                raise UsageError(f"both {homes[name]} and {path} hold a tensor named {name!r}: rename one")
            arrays[name], homes[name] = array, path
    lost = [name for name in said.dtypes if name not in arrays]
    if lost:
        raise UsageError(f"a type is said of {lost[0]!r}, which no file holds{close(lost[0], arrays)}")
    return arrays


def _stage(name: str | None) -> Stage | None:
    known = {str(stage): stage for stage in STAGES}
    if name is not None and name not in known:
        raise UsageError(f"found stage {name!r}, wanted one of {', '.join(known)}{close(name, known)}")
    return None if name is None else known[name]


def _told(paths: Sequence[str], said: SpecFile, inputs: Inputs, options: ReportOptions) -> Told:
    """What the report says about where its numbers come from."""
    digests = {path: _sha256(path) for path in paths} if len(paths) > 1 else {}
    spec = "none: attention without options" if said.sha256 is None else f"{said.path} (SHA-256 {said.sha256})"
    return Told(inputs, spec, digests, options.rows, options.seed, options.within)


def _sha256(path: str) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass
class _Look:
    """One look at a problem: stage by stage, head by head, some rows at a time."""

    inputs: Inputs
    options: ReportOptions
    only: Stage | None
    fmt: Format | None
    progress: Progress
    rows: list[Rows] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = sampled(self.inputs.tensors, self.options.rows, self.options.seed)

    @property
    def bounds(self) -> tuple[float, ...]:
        """The bounds in ulps that are asked about."""
        own = () if self.options.within is None else (self.options.within,)
        return tuple(dict.fromkeys((HALF, ONE, *own)))

    def findings(self, told: Told) -> list[Finding]:
        """Everything that is to be said, in order."""
        given = [stage for stage, role in STAGES.items() if role in self.inputs.arrays]
        stages = [self.only] if self.only else given or [Stage.CONTEXT]
        looked = [self.looked(stage) for stage in stages]
        gradients: list[Judged] = []
        if self.only is None and "output_gradient" not in self.inputs.arrays:
            gradients = unjudged_gradients(self.inputs)
        elif self.only is None:
            gradients = judged_gradients(self.inputs, self.options.rows, self.fmt, self.bounds, self.options.workers)
        skipped = [role for stage, role in STAGES.items() if role in self.inputs.arrays and stage not in stages]
        if "output_gradient" not in self.inputs.arrays or self.only:
            skipped += [role for role in GRADIENTS if role in self.inputs.arrays]
        return list(findings_of(told, self.rows, looked, gradients, skipped))

    def looked(self, stage: Stage) -> Looked:
        """One stage: its truth, and what was given for it."""
        tensors, role = self.inputs.tensors, STAGES[stage]
        array = self.inputs.arrays.get(role)
        data = None if array is None else per_head(tensors, array, stage, self.inputs.names[role])
        fmt = self.fmt if array is None or (self.fmt and stage is not Stage.LSE) else format_of(array, role)
        looked = Looked(stage, role, array is not None, None if fmt is None else Tally(fmt, self.bounds))
        chosen = self.rows
        if data is not None:
            looked.beside = not_finite(tensors, data, self.rows, stage)
            chosen = [np.union1d(some, more) for some, more in zip(self.rows, looked.beside.rows, strict=True)]
        jobs, many = list(self.jobs(stage, chosen)), self.options.workers
        total, done = sum(len(rows) for _, rows in jobs), 0
        with ThreadPoolExecutor(many) as pool:
            run = pool.map if many > 1 else map
            for start in range(0, len(jobs), many):
                some = jobs[start : start + many]
                for (number, rows), found in zip(
                    some, list(run(lambda job: self.first(stage, *job), some)), strict=True
                ):
                    looked.join(self.part(looked, data, number, rows, found))
                    done += len(rows)
                    self.progress(f"{role}: rows", done, total)
        return looked

    def jobs(self, stage: Stage, chosen: Sequence[Rows]) -> Iterator[tuple[int, Rows]]:
        """Head by head, rows that are few enough to be held at once."""
        for number, (head, rows) in enumerate(zip(self.inputs.tensors.heads, chosen, strict=True)):
            width = {Stage.WEIGHTS: head.lengths[1], Stage.LSE: 1}.get(stage, head.v.shape[1])
            size = max(1, CHUNK // max(1, width))
            yield from ((number, rows[start : start + size]) for start in range(0, len(rows), size))

    def first(self, stage: Stage, number: int, rows: Rows) -> FloatEnclosure:
        """The first look at some rows of one head, which threads may have at once."""
        (found,) = enclose_heads([(self.inputs.tensors.heads[number], rows)], stage)
        return found

    def part(
        self, whole: Looked, data: list[NDArray[Any]] | None, number: int, rows: Rows, found: FloatEnclosure
    ) -> Looked:
        """Some rows of one head, counted; one part at a time, as the precision of balls is the same for all threads."""
        tensors, stage = self.inputs.tensors, whole.stage
        head = tensors.heads[number]
        part = Looked(stage, whole.role, whole.given)
        part.see(head, rows, found)
        if whole.tally is None:
            return part
        part.tally = tally = Tally(whole.tally.fmt, self.bounds)
        if data is None:
            given, error = correctly_rounded(tensors, number, rows, found, tally, stage)
        else:
            given = np.asarray(data[number][rows], dtype=np.float64)
            known = np.where(np.isfinite(given), given, 0.0)  # of what is not finite only the size of the truth matters
            error = climbed(tensors, number, rows, known, measured(found, known), ~np.isnan(found.mid), tally, stage)
        tally.add(given, error, ~np.isnan(found.mid), self.where(number, rows, stage))
        return part

    def where(self, number: int, rows: Rows, stage: Stage) -> Callable[[Place], Place]:
        """The index (sequence, head, row, column) of an element, axes of length 1 and that of lse left out."""
        batch, heads, *_ = self.inputs.tensors.shape
        first = ((number // heads,) if batch > 1 else ()) + ((number % heads,) if heads > 1 else ())
        return lambda place: (*first, int(rows[place[0]]), *(() if stage is Stage.LSE else place[1:]))
