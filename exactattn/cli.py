"""The command line: one function a command. Only click is imported here, so that `--help` is quick.

Each command imports what it needs when it runs; `shell` prints what it gives.
"""

from __future__ import annotations

import os
import sys

import click

from exactattn import shell
from exactattn.errors import UsageError


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001 - click's form
    if value:
        from importlib.metadata import version

        click.echo(f"exactattn {version('exactattn')}")
        ctx.exit()


@click.group(cls=shell.Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show it and stop.")
@click.option("--debug", is_flag=True, help="Show the traceback of an internal error.")
def main(debug: bool) -> None:  # noqa: ARG001 - read from the context
    """Is this attention result right, and if not, why?

    Exit status: 0 as expected; 1 something fails that was not expected; 2 bad usage or a case that cannot be read; 3
    with --strict when something is not decided.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _index(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int | None, ...] | None:
    """The text 2,0 as numbers, : as None for a whole axis."""
    if value is None:
        return None
    parts = [part.strip() for part in value.strip("[] ").split(",")]
    if not all(part == ":" or (part.isascii() and part.isdigit() and len(part) < 10) for part in parts):
        raise click.BadParameter(f"{value!r}: wanted whole numbers from 0, such as 2,0 or 2,: or 2", ctx, param)
    return tuple(None if part == ":" else int(part) for part in parts)


def _pairs(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """The texts NAME=VALUE as a mapping."""
    pairs = [item.partition("=") for item in value]
    if not all(name and sign for name, sign, _ in pairs):
        raise click.BadParameter("wanted NAME=VALUE", ctx, param)
    return {name: text for name, _, text in pairs}


def _rows(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """A number of rows; None for all."""
    if value.strip().lower() == "all":
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 12 and int(value) > 0):
        raise click.BadParameter(f"{value!r}: wanted a number of rows from 1, or all", ctx, param)
    return int(value)


def _ulps(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """A bound in ulps: the largest float that is not above what is written."""
    if value is None:
        return None
    from exactattn.journeys.bounds import ulps

    bound = ulps(value)
    if bound is None:
        raise click.BadParameter(f"{value!r}: wanted a number of ulps above 0, such as 1 or 0.6", ctx, param)
    return bound


json_option = click.option("--json", "json_file", metavar="FILE", help="Write JSON to a file; - is standard output.")


@main.command()
@click.argument("cases", nargs=-1, required=True, metavar="CASE...")
@json_option
@click.option("--markdown", "markdown_file", metavar="FILE", help="Write Markdown to a file; - is standard output.")
@click.option("--table", "table_file", metavar="FILE", help="Write one line a case to a file, as a Markdown table.")
@click.option("--digits", type=click.IntRange(1, 1000), default=20, show_default=True, help="Digits of true values.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of whatever is drawn.")
@click.option("--strict", is_flag=True, help="Exit 3 when something is undecided, not run or broken.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but what goes to - and errors.")
@click.option("--verbose", "-v", is_flag=True, help="Print all digits and proofs, and every check that holds.")
@click.option("--select", multiple=True, metavar="CODE", help="Only findings whose code begins so; repeatable.")
@click.option("--ignore", multiple=True, metavar="CODE", help="No findings whose code begins so; repeatable.")
def verify(
    cases: tuple[str, ...],
    json_file: str | None,
    markdown_file: str | None,
    table_file: str | None,
    digits: int,
    seed: int,
    strict: bool,
    quiet: bool,
    verbose: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> None:
    """Judge the printed numbers and statements of case files.

    A CASE of - is standard input, a folder stands for the cases in it. A Markdown or LaTeX document (.md, .tex, .txt)
    is judged by the case that is drafted from it.
    """
    from exactattn.documents.files import case_files
    from exactattn.journeys import verify as journey
    from exactattn.journeys.explain import require_prefixes

    asked = {"json": json_file, "markdown": markdown_file, "table": table_file}
    outputs = {name: file for name, file in asked.items() if file is not None}
    shell.distinct(outputs, [file for case in cases for file in case_files(case)])
    require_prefixes((*select, *ignore))
    reports = journey.verify(list(cases), journey.VerifyOptions(digits, seed, select, ignore))
    failed = shell.deliver(reports, outputs, quiet, verbose)
    sys.exit(shell.BAD if failed else journey.exit_status(reports, strict))


@main.command()
@click.argument("case", metavar="CASE")
@click.option("--stage", default="output", show_default=True, help="What to show: `exactattn list stages`.")
@click.option("--digits", type=click.IntRange(1, 4000), default=20, show_default=True, help="Significant digits.")
@click.option("--head", type=int, help="Only this head, counted from 0.")
@click.option("--problem", help="Which problem, where the case has several.")
@click.option("--index", callback=_index, help="Only this element, such as 2,0; 2 is a row, :,0 a column.")
@click.option(
    "--engine", default="ball", show_default=True, help="ball (arb), multiprecision (mpmath) or symbolic (sympy)."
)
@json_option
def solve(
    case: str,
    stage: str,
    digits: int,
    head: int | None,
    problem: str | None,
    index: tuple[int | None, ...] | None,
    engine: str,
    json_file: str | None,
) -> None:
    """Print the answer itself: decimal, proven enclosure, closed form.

    Exit status: 3 when nothing that was asked for is decided.
    """
    from exactattn.journeys.notes import open_case
    from exactattn.journeys.solution import Wanted
    from exactattn.journeys.solve import choose
    from exactattn.journeys.solve import solve as journey

    shell.distinct({} if json_file is None else {"json": json_file}, [case])
    solution = journey(choose(open_case(case).problems, problem), Wanted(stage, digits, head, index, engine))
    shell.result(solution.text(), solution.as_json(), json_file)
    sys.exit(solution.status)


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--spec", metavar="SPEC", help="YAML file: options, and which tensor is what; - is standard input.")
@click.option("--rows", default="256", show_default=True, callback=_rows, help="Rows that are drawn of all, or all.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draw.")
@click.option("--stage", metavar="STAGE", help="Only weights, lse or context; what the files hold if left out.")
@click.option("--format", "fmt", metavar="FORMAT", help="Format of outputs and gradients, where their type is wider.")
@click.option("--within", metavar="ULPS", callback=_ulps, help="Fail when an element is surely further off.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Threads.")
@json_option
@click.option("--markdown", "markdown_file", metavar="FILE", help="Write Markdown to a file; - is standard output.")
@click.option("--strict", is_flag=True, help="Exit 3 when something is undecided or not run.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but what goes to - and errors.")
@click.option("--verbose", "-v", is_flag=True, help="Print everything.")
def report(
    files: tuple[str, ...],
    spec: str | None,
    rows: int | None,
    seed: int,
    stage: str | None,
    fmt: str | None,
    within: float | None,
    workers: int,
    json_file: str | None,
    markdown_file: str | None,
    strict: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Judge tensors in files against proven enclosures.

    FILE: .npy, .npz, .safetensors, .pt with q, k, v, options as a SPEC says (`exactattn new --spec`), and what a
    program gave for them: outputs, lse, gradients (which need output_gradient). Exit status: 1 when an element is NaN
    or infinite without reason, or surely beyond --within; 3 with --strict when something cannot be told or was not
    judged.
    """
    from exactattn.journeys import report as journey
    from exactattn.journeys.verify import exit_status

    asked = {"json": json_file, "markdown": markdown_file}
    outputs = {name: file for name, file in asked.items() if file is not None}
    shell.distinct(outputs, [*files, *([] if spec is None else [spec])])
    options = journey.ReportOptions(rows, seed, stage, fmt, within, workers)
    with shell.progress(quiet) as progress:
        reports = journey.report(list(files), spec, options, progress)
    failed = shell.deliver(reports, outputs, quiet, verbose)
    sys.exit(shell.BAD if failed else exit_status(reports, strict))


@main.command()
@click.argument("law", required=False)
@click.option("--option", "options", multiple=True, callback=_pairs, metavar="NAME=VALUE", help="An option of the law.")
@json_option
def prove(law: str | None, options: dict[str, str], json_file: str | None) -> None:
    """Decide a law by exact algebra, with the derivation.

    Without LAW, list the laws. Exit status: 0 it holds, 1 it fails, 3 it cannot be told.
    """
    from exactattn.journeys.listing import titled

    if law is None:
        shell.say(shell.table(titled("laws")))
        return
    from exactattn.journeys.prove import prove as journey

    proof = journey(law, **options)
    shell.result(proof.text(), proof.as_json(), json_file)
    sys.exit(proof.status)


@main.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Say what a code of a report means, and what to do.

    Without CODE, list the codes.
    """
    from exactattn.journeys.explain import explain as journey
    from exactattn.journeys.explain import summaries

    if code is None:
        shell.say(shell.table([("CODE", "WHAT IT IS ABOUT"), *summaries()]))
    else:
        shell.say(journey(code, shell.screen()["width"]))


@main.command(name="list")
@click.argument("kind")
def list_(kind: str) -> None:
    """List what there is of a KIND.

    Kinds: engines, generators, laws, checks, conventions, formats, stages, algorithms, renderers.
    """
    from exactattn.journeys.listing import titled

    shell.say(shell.table(titled(kind)))


@main.command()
@click.option("--spec", is_flag=True, help="That of spec files, for `exactattn report`.")
def schema(spec: bool) -> None:
    """Print the JSON Schema of case files, for editors."""
    from exactattn.journeys import schema as journey
    from exactattn.render.json import dump

    shell.out(dump(journey.spec_schema() if spec else journey.schema()))


@main.command()
@click.argument("file", required=False)
@click.option(
    "--from", "notes", metavar="NOTES", help="Draft it from a Markdown or LaTeX document; - is standard input."
)
@click.option("--spec", is_flag=True, help="A spec file for `exactattn report` instead of a case.")
@click.option("--output", "-o", metavar="FILE", help="The same as FILE.")
@click.option("--force", is_flag=True, help="Overwrite the file if there is one.")
def new(file: str | None, notes: str | None, spec: bool, output: str | None, force: bool) -> None:
    """Write a commented case file to start from.

    Without FILE, print it. What was understood of NOTES, and what was not, is listed on standard error.
    """
    from exactattn.journeys import new as journey

    if file is not None and output is not None:
        raise UsageError(f"found two files to write, {file} and {output}: name one")
    file = output if file is None else file
    if file not in (None, "-") and os.path.lexists(str(file)) and not force:
        raise UsageError(f"{file} is there already: choose another name, or overwrite it with --force")
    if spec and notes is not None:
        raise UsageError("found --spec and --from: a case is drafted from a document, a spec is not; leave one out")
    plain = journey.spec_template if spec else journey.template
    text, listed = (plain(), "") if notes is None else journey.drafted(notes)
    if listed:
        shell.complain(listed)
    if file is None or file == "-":
        shell.out(text)
        return
    from exactattn.render.files import write_whole

    write_whole(file, text)
    command = f"exactattn report TENSORS --spec {file}" if spec else f"exactattn verify {file}"
    shell.complain(f"wrote {file}: fill it in, then run `{command}`")
