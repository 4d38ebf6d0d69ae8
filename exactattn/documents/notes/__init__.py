"""A Markdown or LaTeX document -> a draft of a case: what was understood, and what not; nothing is guessed silently."""

from exactattn.documents.notes.draft import read_notes
from exactattn.documents.notes.model import Draft, Noted

__all__ = ["Draft", "Noted", "read_notes"]
