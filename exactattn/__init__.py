"""What an attention computation should give, with proof; and a judge of everything else against that.

    from exactattn import verify
    for finding in verify("case.yaml").reports[0].wrong:
        print(finding.id, finding.message)

`verify(...).as_json()` is the whole report, `load("case.yaml")` the case itself. Of tensors:

    from exactattn import Tensors, enclose
    found = enclose(Tensors.of(q, k, v))  # proven: |true - found.mid| <= found.rad

The names below are the public surface; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exactattn.attention.spec import AttentionSpec
    from exactattn.documents.case import Case, load
    from exactattn.errors import CaseError, ExactattnError
    from exactattn.findings import Finding, Level, Report, Reports, Verdict
    from exactattn.journeys.prove import prove
    from exactattn.journeys.report import ReportOptions, report
    from exactattn.journeys.solve import solve
    from exactattn.journeys.verify import VerifyOptions, verify
    from exactattn.truth.ball_blocks import enclose_by_balls
    from exactattn.truth.blocks import ask, enclose
    from exactattn.truth.gradients import enclose_gradients
    from exactattn.truth.tensors import Tensors

    __version__: str

_HOMES = {
    "AttentionSpec": "attention.spec",
    "Case": "documents.case",
    "CaseError": "errors",
    "ExactattnError": "errors",
    "Finding": "findings",
    "Level": "findings",
    "Report": "findings",
    "ReportOptions": "journeys.report",
    "Reports": "findings",
    "Verdict": "findings",
    "Tensors": "truth.tensors",
    "VerifyOptions": "journeys.verify",
    "ask": "truth.blocks",
    "enclose": "truth.blocks",
    "enclose_by_balls": "truth.ball_blocks",
    "enclose_gradients": "truth.gradients",
    "load": "documents.case",
    "prove": "journeys.prove",
    "report": "journeys.report",
    "solve": "journeys.solve",
    "verify": "journeys.verify",
}

__all__ = [
    "AttentionSpec",
    "Case",
    "CaseError",
    "ExactattnError",
    "Finding",
    "Level",
    "Report",
    "ReportOptions",
    "Reports",
    "Tensors",
    "Verdict",
    "VerifyOptions",
    "__version__",
    "ask",
    "enclose",
    "enclose_by_balls",
    "enclose_gradients",
    "load",
    "prove",
    "report",
    "solve",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Imports a public name on first use (PEP 562)."""
    if name == "__version__":
        from importlib.metadata import version

        return version("exactattn")
    if name not in _HOMES:
        raise AttributeError(f"module 'exactattn' has no attribute {name!r}")
    value = getattr(import_module(f"exactattn.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
