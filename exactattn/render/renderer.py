"""What a renderer is: a reader of `Reports` that gives text. Each file exports one, as `RENDERER`."""

from __future__ import annotations

from typing import Any, Protocol

from exactattn.findings import Reports


class Renderer(Protocol):
    """Shows reports in one form.

    name    as in `--NAME FILE`; suffix: of such a file
    """

    name: str
    suffix: str

    def render(self, reports: Reports, **options: Any) -> str:
        """The whole text, ending in a line break. Unknown options are left alone."""
