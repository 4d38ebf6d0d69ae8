"""Around the commands: one message and an exit status for whatever goes wrong, and where results are printed.

Whatever is printed has passed `render.text`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import click

from exactattn.errors import ExactattnError, UsageError

BAD = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


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


def distinct(outputs: Mapping[str, str]) -> None:
    """No two outputs go to one place."""
    places = [file if file == "-" else os.path.realpath(file) for file in outputs.values()]
    if len(set(places)) < len(places):
        raise UsageError(f"{' and '.join(f'--{name}' for name in outputs)} go to one place: give each its own file")


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
        click.echo(plugins.get("render", "terminal").render(reports, **screen(), verbose=verbose), nl=False)
    for failure in failures:
        complain(f"error: {failure}")
    return bool(failures)


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

    click.echo(clean_lines(text), nl=False)


def out(text: str) -> None:
    """A whole document in UTF-8, whatever the terminal's encoding is."""
    click.echo(text.encode("utf-8"), nl=False)


def complain(text: str) -> None:
    """A message to standard error."""
    from exactattn.render.text import clean_lines

    with suppress(BrokenPipeError):  # nobody reads it, and the exit status says it all the same
        click.echo(clean_lines(text), err=True)
