"""A document in place of a case: its draft is judged, and every finding is placed in the document.

`documents.notes` is imported only where there is a document, so that cases do not wait for it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exactattn.documents import files
from exactattn.documents.case import Case, loads
from exactattn.documents.model import CasePart
from exactattn.documents.nodes import Mistakes
from exactattn.findings import Finding, Level, Verdict

if TYPE_CHECKING:
    from exactattn.documents.notes import Draft, Noted

CODES = {
    "EA903": "What was found in a document that is judged without a case: each block of numbers with what it was taken "
    "for (`holds`), what no line states and was assumed, and what was not understood, with the "
    "reason (`not_run`). `exactattn new --from FILE` writes the case drafted from it, to complete and correct.",
}
NOTES = (".md", ".markdown", ".tex", ".txt")
CASES = (".yaml", ".yml")
_CASE_KEY = re.compile(r"^(?:" + "|".join(CasePart.model_fields) + r")[ \t]*:", re.MULTILINE)
_VERSION = re.compile(r"^[\"']?version[\"']?[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Opened:
    """What was named on the command line: a case, or a document with the draft of one."""

    kind: str
    case: Case
    draft: Draft | None = None

    def placed(self, finding: Finding) -> Finding:
        """A finding at its place in the file that was named."""
        return finding if self.draft is None else replace(finding, where=self.draft.place_of(finding.where))

    def findings(self) -> list[Finding]:
        """What was understood of a document, and what was not."""
        noted = [] if self.draft is None else [one for one in self.draft.noted if not one.claim]
        return [_finding(number, one) for number, one in enumerate(noted, start=1)]


def open_any(path: str) -> Opened:
    """A case, or a document as a draft of one. Errors: CaseError."""
    mistakes = Mistakes(path)
    data = files.read_bytes(path, mistakes)
    if not is_notes(path, data):
        return Opened("case", loads(data, path, files.folder_of(path)))
    draft = _read(files.decode(data, mistakes), path)
    case = replace(loads(draft.text, path), sha256=hashlib.sha256(data).hexdigest())
    return Opened("notes", case, draft)


def open_case(path: str) -> Case:
    """A case, for what cannot be asked of a document. Errors: CaseError, which for a document says what to do."""
    mistakes = Mistakes(path)
    data = files.read_bytes(path, mistakes)
    if Path(path).suffix.lower() in NOTES and is_notes(path, data):
        hint = "judge it with `exactattn verify FILE`, or draft a case from it with `exactattn new --from FILE CASE`"
        mistakes.stop("this is a document, and no case", None, hint)
    return loads(data, path)


def draft_of(path: str) -> Draft:
    """The draft of a document. Errors: CaseError."""
    mistakes = Mistakes(path)
    return _read(files.decode(files.read_bytes(path, mistakes), mistakes), path)


def _read(text: str, path: str) -> Draft:
    from exactattn.documents.notes import read_notes

    return read_notes(text, path)


def is_notes(path: str, data: bytes) -> bool:
    """Is this a document and no case? By its ending, and by its content where the ending says nothing."""
    ending = Path(path).suffix.lower()
    if ending in CASES:
        return False
    text = data.decode("utf-8", "replace")
    if ending in NOTES:
        return _VERSION.search(text) is None
    return bool(text.strip()) and _CASE_KEY.search(text) is None


def _finding(number: int, noted: Noted) -> Finding:
    verdict = Verdict.HOLDS if noted.understood else Verdict.NOT_RUN
    reason = "assumed" if noted.assumed else "understood" if noted.understood else "not-understood"
    message = f"{reason.replace('-', ' ')}: {noted.what}: {noted.says}"
    return Finding(f"notes:{number}", "notes", "EA903", Level.NOTE, verdict, message, reason, noted.place)
