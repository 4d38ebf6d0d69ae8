"""What every law must do: a new law is tested by existing."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest
from samples import no_hang

from exactattn import plugins
from exactattn.engines.symbolic import ENGINE
from exactattn.errors import UsageError
from exactattn.findings import Verdict
from exactattn.numbers.enclosure import Answer

LAWS = plugins.found("laws")
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))


@every_law
@pytest.mark.parametrize("options", [{}, {"thorough": "true"}], ids=["default", "thorough"])
def test_it_holds_and_says_for_what(law: Any, options: dict[str, str]) -> None:
    decision = law.decide(ENGINE.arithmetic, **options)
    assert decision.verdict is Verdict.HOLDS
    assert decision.statement == law.statement
    assert decision.counterexample is None
    assert decision.shapes
    assert "for every" in decision.scope or "at every size" in decision.scope or "one counterexample" in decision.scope
    assert decision.values
    assert decision.steps
    assert all(step.text and step.by and step.answer is Answer.YES for step in decision.steps)
    assert all(isinstance(text, str) for pair in decision.values.items() for text in pair)


@every_law
def test_its_docstring_is_statement_and_derivation(law: Any) -> None:
    text = inspect.getdoc(type(law)) or ""
    assert "Statement: " in text
    assert "Derivation" in text


@every_law
def test_its_file_has_its_name(law: Any) -> None:
    assert type(law).__module__ == f"exactattn.laws.{law.name.replace('-', '_')}"


@every_law
def test_it_decides_the_same_twice(law: Any) -> None:
    assert law.decide(ENGINE.arithmetic) == law.decide(ENGINE.arithmetic)


@every_law
def test_an_unknown_option_is_named_with_the_closest(law: Any) -> None:
    with pytest.raises(UsageError, match="thorough"):
        law.decide(ENGINE.arithmetic, thorugh="true")
    with pytest.raises(UsageError, match="wanted one of: false, true"):
        law.decide(ENGINE.arithmetic, thorough="perhaps")


@every_law
def test_it_decides_without_hanging(law: Any) -> None:
    with no_hang():
        assert law.decide(ENGINE.arithmetic).verdict is Verdict.HOLDS


def test_the_required_laws_are_there() -> None:
    wanted = (
        "rows-sum-to-one weights-in-unit-interval shift-invariance softmax-jacobian score-variance online-softmax "
        "split-and-merge permutation-equivariance convex-hull context-factors concat-output orientation entropy-scale"
    )
    assert set(wanted.split()) <= set(LAWS)


def test_laws_load_without_sympy_and_engines() -> None:
    code = (
        "import sys; from exactattn import plugins; plugins.found('laws'); "
        "print([m for m in sys.modules if m == 'sympy' or m.startswith('exactattn.engines')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
