"""Decides a law by exact algebra and tells how: statement, derivation, shapes, scope, counterexample."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from inspect import cleandoc
from textwrap import wrap
from typing import Any

from exactattn import plugins
from exactattn.findings import Verdict
from exactattn.laws.law import Decision, only_its_own
from exactattn.numbers.enclosure import Answer

SCHEMA = "exactattn/proof/1"
WIDTH = 79
_WORD = re.compile(r"[a-z]{2,}(?![\w(^])")
_STARTS = re.compile(r"\s|[A-Z][a-z]+:")


@dataclass(frozen=True, slots=True)
class Proof:
    """A law with its derivation in words, what was decided about it, and the options it takes."""

    law: str
    words: str
    decision: Decision
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The exit status: 0 holds, 1 fails, 3 cannot tell."""
        return {Verdict.HOLDS: 0, Verdict.FAILS: 1}.get(self.decision.verdict, 3)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        data = asdict(self.decision)
        for step in data["steps"]:
            step["answer"] = step["answer"].value
        return {"schema": SCHEMA, "law": self.law, "words": self.words, **data, "options": dict(self.options)}

    def text(self) -> str:
        """For people."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        found = self.decision
        yield from (f"{self.law}: {str(found.verdict).replace('_', ' ')}", "", *_wrapped(found.statement), "")
        if self.words:
            yield from (*_wrapped(self.words), "")
        if found.steps:
            yield "Derivation"
            for number, step in enumerate(found.steps, 1):
                answer = "" if step.answer is Answer.YES else f": {step.answer.value}"
                yield from _wrapped(f"{number}. {step.text}", "  ")
                yield from _wrapped(f"[{step.by}{answer}]", "     ")
            yield ""
        yield from _wrapped(f"Decided for {'; '.join(found.shapes) or 'no shape'}. {_sentence(found.scope)}")
        if found.counterexample:
            yield from _wrapped(f"Counterexample: {found.counterexample}")
        if found.corrected:
            yield from _wrapped(f"Corrected: {found.corrected}")
        for name, value in found.values.items():
            yield from _wrapped(f"{name}: {value}")
        if self.options:
            yield from ("", "Options")
            for name, meaning in self.options.items():
                yield from _wrapped(f"{name}: {meaning}", "  ")


def _sentence(text: str) -> str:
    """With a capital in front, unless a name stands there, and a full stop behind."""
    text = text.strip()
    start = text[:1].upper() if _WORD.match(text) else text[:1]
    return start + text[1:] + ("" if not text or text.endswith(".") else ".")


def _wrapped(text: str, indent: str = "") -> Iterator[str]:
    """Paragraphs wrapped to 80 columns; a line joins the one before unless it is indented, empty or begins "Word:"."""
    paragraphs: list[str] = []
    for line in text.splitlines():
        if not paragraphs or not line.strip() or _STARTS.match(line) or not paragraphs[-1].strip():
            paragraphs.append(line.rstrip())
        else:
            paragraphs[-1] += f" {line.strip()}"
    for paragraph in paragraphs:
        start = indent + paragraph[: len(paragraph) - len(paragraph.lstrip())]
        yield from wrap(paragraph.strip(), WIDTH, initial_indent=start, subsequent_indent=start + "  ") or [""]


def prove(name: str, /, **options: str) -> Proof:
    """Decides one law; `options` are those of a claim. Errors: UsageError with the closest names."""
    law = plugins.get("laws", name)
    only_its_own(law, options)
    decision = law.decide(plugins.get("engines", "symbolic").arithmetic, **options)
    return Proof(law.name, cleandoc(type(law).__doc__ or ""), decision, dict(law.options))
