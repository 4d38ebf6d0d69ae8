"""Around the commands: one message and an exit status for whatever goes wrong, and where results are printed.

Whatever is printed has passed `render.text`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from typing import Any

import click

from exactattn.errors import ExactattnError, UsageError

BAD = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
UNREADABLE = ("EA901", "EA209")


class Commands(click.Group):
    """The group of commands: turns whatever goes wrong into one message and an exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command. Exit status: 2 for mistakes, 130 when interrupted, 141 when nobody reads the output."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except ExactattnError as error:
            complain(f"error: {error}")
            ctx.exit(BAD)
        except KeyboardInterrupt:
            complain("interrupted")
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _silence()
            ctx.exit(BROKEN_PIPE)
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            complain(f"internal error (EA900): {type(error).__name__}: {error}")
            complain("this is our fault: please report it, with the traceback that `exactattn --debug ...` gives")
            ctx.exit(BAD)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Finds the command, or says which one may have been meant."""
        name = args[0] if args else ""
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            near = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Commands: {', '.join(self.list_commands(ctx))}."
            ctx.fail(f"No such command {name!r}. {hint}")
        return super().resolve_command(ctx, args)


def _silence() -> None:
    """Lets the interpreter flush standard output at its end into nothing."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def distinct(outputs: Mapping[str, str], cases: Sequence[str] = ()) -> None:
    """No two outputs go to one place, none goes over a case, and standard input is read once."""
    places = {name: _place(file) for name, file in outputs.items()}
    if len(set(places.values())) < len(places):
        raise UsageError(f"{' and '.join(f'--{name}' for name in outputs)} go to one place: give each its own file")
    read = [_place(case) for case in cases]
    for name, place in places.items():
        if place != "-" and place in read:
            raise UsageError(f"--{name} would overwrite the case {outputs[name]}: give it its own file")
    if read.count("-") > 1:
        raise UsageError("standard input can be read only once: name - one time")


def _place(file: str) -> str:
    return file if file == "-" else os.path.realpath(file)


def deliver(reports: Any, outputs: Mapping[str, str], quiet: bool, verbose: bool = False) -> bool:
    """Sends each output to its place; what cannot be written is printed instead. Says whether something failed."""
    from exactattn import plugins
    from exactattn.render.files import write_whole
    from exactattn.render.outline import headlines

    failures = []
    for name, file in outputs.items():
        text = plugins.get("render", name).render(reports, verbose=verbose)
        if file == "-":
            out(text)
            continue
        try:
            write_whole(file, text)
        except UsageError as error:
            failures.append(str(error))
    if "-" in outputs.values():
        if not quiet:
            complain("\n".join(headlines(reports)))
    elif failures or not quiet:
        _echo(plugins.get("render", "terminal").render(reports, **screen(), verbose=verbose))
    if quiet and not failures:
        for line in _unreadable(reports):
            complain(line)
    for failure in failures:
        complain(f"error: {failure}")
    return bool(failures)


def _unreadable(reports: Any) -> Iterator[str]:
    """Why a case, or a claim in it, could not be read: one line a mistake."""
    for report in reports.reports:
        for finding in report.findings:
            if finding.code in UNREADABLE:
                place = "" if finding.where is None else f"line {finding.where.line}, column {finding.where.column}: "
                yield f"error: {report.subject.path}: {place}{finding.message}"


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Shows (what, done, total) on standard error while the work goes on, where that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done)

        yield show


def screen() -> dict[str, Any]:
    """Width and colour of standard output; NO_COLOR and a dumb terminal mean none."""
    from rich.console import Console

    console = Console()
    color = console.color_system is not None and not os.environ.get("NO_COLOR")
    return {"width": min(console.width, 120), "color": color}


def result(text: str, data: Any, json_file: str | None) -> None:
    """A result for people, or as JSON where it is asked for."""
    if json_file is None:
        say(text)
        return
    from exactattn.render.files import write_whole
    from exactattn.render.json import dump

    if json_file == "-":
        out(dump(data))
        return
    say(text)
    write_whole(json_file, dump(data))


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Names and texts in two columns, wrapped to 80."""
    from textwrap import wrap

    width = max((len(name) for name, _ in rows), default=0) + 2
    lines: list[str] = []
    for name, text in rows:
        first, *rest = wrap(text, 79 - width) or [""]
        lines += [f"{name:{width}}{first}", *(f"{'':{width}}{line}" for line in rest)]
    return "\n".join(lines) + "\n"


def say(text: str) -> None:
    """Text of ours that may quote a file, to standard output."""
    from exactattn.render.text import clean_lines

    _echo(clean_lines(text))


def out(text: str) -> None:
    """A whole document in UTF-8, whatever the terminal's encoding is."""
    _echo(text.encode("utf-8"))


def _echo(text: str | bytes) -> None:
    """To standard output. Errors: UsageError when it takes no more, such as a full disk."""
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        _silence()
        raise UsageError(f"cannot write to standard output: {error.strerror or error}") from error


def complain(text: str) -> None:
    """A message to standard error."""
    from exactattn.render.text import clean_lines

    with suppress(BrokenPipeError):  # nobody reads it, and the exit status says it all the same
        click.echo(clean_lines(text), err=True)
