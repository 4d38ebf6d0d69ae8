"""Golden pairs: each file of `cases/` beside its report in `reports/`, without what depends on the machine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from exactattn import plugins
from exactattn.cli import main
from exactattn.journeys.verify import verify

ROOT = Path(__file__).parent.parent
CASES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "cases").rglob("*.yaml"))

TABLE = ROOT / "reports" / "published.md"  # exactattn verify cases/published --quiet --table reports/published.md
FIELD = ROOT / "reports" / "field-cases.md"  # tests/field/test_table.py


def settled(reports):
    """The reports without tool, environment and the figures of float runs; their verdicts stay."""
    return replace(
        reports,
        tool={},
        environment={},
        reports=tuple(replace(one, findings=tuple(map(_settled, one.findings))) for one in reports.reports),
    )


def _settled(finding):
    if finding.check == "float-runs":
        return replace(finding, message=f"float run, {finding.verdict}", evidence={})
    return replace(finding, evidence={key: value for key, value in finding.evidence.items() if key != "run"})


def golden_path(case, suffix):
    """Where the report of a case is kept: cases/a/b.yaml -> reports/a/b.md."""
    return (ROOT / "reports" / Path(case).relative_to("cases")).with_suffix(suffix)


def golden_suffixes(case):
    """In which forms the report of a case is kept: of the corpus only Markdown, which is a tenth of the JSON."""
    return (".md",) if case.startswith("cases/published/") else (".json", ".md")


def golden_texts(case):
    """The JSON and Markdown that a case must give, by suffix."""
    reports = settled(verify([case]))
    forms = {
        ".json": lambda: json.dumps(reports.as_json(), indent=1, ensure_ascii=False) + "\n",
        ".md": lambda: plugins.get("render", "markdown").render(reports),
    }
    return {suffix: forms[suffix]() for suffix in golden_suffixes(case)}


def table_text():
    """The table that the corpus must give, as the command writes it."""
    result = CliRunner().invoke(main, ["verify", "cases/published", "--quiet", "--table", "-"])
    assert result.exit_code == 0, result.output
    return result.stdout
