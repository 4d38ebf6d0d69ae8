"""The command line with journeys that are fakes, so that its own part is what is tested."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner

from exactattn.cli import main
from exactattn.findings import Finding, Level, Report, Reports, Subject, Verdict


def fake_reports(verdict=Verdict.HOLDS):
    """One finding about one case."""
    finding = Finding("claim", "laws", "EA201", Level.ERROR, verdict, "a statement")
    return Reports(("verify", "c.yaml"), (Report(Subject("case", "title", "c.yaml"), (finding,)),))


@pytest.fixture
def run():
    """Runs the command line: run("list", "laws").exit_code."""
    return lambda *arguments, **options: CliRunner().invoke(main, [str(a) for a in arguments], **options)


@pytest.fixture
def install(monkeypatch):
    """Puts a fake module of journeys or documents in place, with the given names in it."""

    def put(name, **members):
        import importlib

        module = ModuleType(name)
        vars(module).update(members)
        package, _, last = name.rpartition(".")
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setattr(importlib.import_module(package), last, module, raising=False)

    return put


@pytest.fixture
def verifying(install):
    """A fake journey `verify`; what it was asked is in `.asked`, what it does in `.answer`."""
    fake = SimpleNamespace(asked=[], answer=fake_reports, status=0)

    def verify(paths, options):
        fake.asked.append((paths, options))
        return fake.answer()

    def options(*values):
        return SimpleNamespace(**dict(zip(("digits", "seed", "select", "ignore"), values, strict=True)))

    install(
        "exactattn.journeys.verify", verify=verify, VerifyOptions=options, CODES={"EA900": "The tool failed."},
        exit_status=lambda reports, strict: fake.status + (10 if strict else 0),
    )  # fmt: skip
    return fake
