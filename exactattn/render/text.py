"""Text from elsewhere made safe to show: no control character, no escape sequence, no markup gets through.

Case files, their paths and messages about them are other people's text. Whatever a renderer shows goes through
`clean` (terminal) or `markdown` and `code` (Markdown); JSON goes through `safe_json`.
"""

from __future__ import annotations

import re
import unicodedata

MOST_CHARACTERS = 4000
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control, format (bidi, zero width), surrogate, separators
_MARKDOWN = re.compile(r"[\\`\[~|$]|(?<! )\*|\*(?! )|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_AT_START = re.compile(r"^(?:[-+*=#]|\d+[.)])(?![A-Za-z0-9.(])")  # what makes a list, a heading or a rule of a line


def clean(text: object, newline: str = r"\n", most: int = MOST_CHARACTERS) -> str:
    """One line of visible characters: hidden ones become escapes such as \\x1b and \\u202e, long text is cut.

    `newline` is what stands for a line break.
    """
    line = str(text)
    if len(line) > most:
        line = f"{line[:most]}... ({len(line) - most} more characters)"
    if line.isprintable():
        return line
    shown = (newline if c == "\n" else _escape(c) if unicodedata.category(c) in _HIDDEN else c for c in line)
    return "".join(shown)


def flow(text: object) -> str:
    """Prose: as `clean`, with line breaks as spaces."""
    return clean(text, newline=" ")


def clean_lines(text: str) -> str:
    """Text of our own making that quotes others: its line breaks stay, everything else is cleaned."""
    return "\n".join(clean(line, most=10 * MOST_CHARACTERS) for line in text.split("\n"))


def markdown(text: object) -> str:
    """Prose inside a Markdown line or table cell: nothing in it is markup or HTML."""
    line = flow(text)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _MARKDOWN.sub(lambda match: f"\\{match[0]}", line)
    return _AT_START.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", line)


def code(text: object) -> str:
    """A Markdown code span that holds any text, in a table cell too."""
    line = clean(text, newline=" ").replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    pad = " " if line[:1] in ("`", " ", "") or line[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def safe_json(text: str) -> str:
    """JSON text with hidden characters as \\u escapes; its own line breaks stay. The data are the same."""
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(_json_escape(c) if c != "\n" and unicodedata.category(c) in _HIDDEN else c for c in text)


def _escape(c: str) -> str:
    number = ord(c)
    if c in "\t\r":
        return {"\t": r"\t", "\r": r"\r"}[c]
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _json_escape(c: str) -> str:
    number = ord(c)
    if number < 0x10000:
        return f"\\u{number:04x}"
    high, low = divmod(number - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
