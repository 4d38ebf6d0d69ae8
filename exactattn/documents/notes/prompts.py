"""What a block without a name of its own is called: by the prompt of a session, or by the equation before it."""

from __future__ import annotations

import re

_IN = re.compile(r"\s*In \[([0-9]{1,5})\]\s*:?\s*(.*)")
_PROMPT = re.compile(r"(In|Out)\s*\[([0-9]{1,5})\]")
_SIGNS = re.compile(r"\A\s*(?:>>>|\.\.\.|In \[[0-9]{1,5}\]\s*:)\s*")
_MARKUP = re.compile(r"\*\*[^*]{0,80}\*\*|`|\$")
MOST_LINES = 20_000


def without_prompt(text: str) -> str:
    """A line without the prompt of Python or IPython in front."""
    return _SIGNS.sub("", text)


def named_by_prompt(label: str, side: str | None, lines: list[str]) -> str | None:
    """What `In [2]` or `Out[6]` in front of numbers stands for: the left side in it, or what was typed; else None."""
    prompt = _PROMPT.fullmatch(label.strip())
    if prompt is None:
        return None
    if prompt[1] == "In":
        return None if side is None else without_prompt(side)
    for line in lines[:MOST_LINES]:
        typed = _IN.match(line)
        if typed is not None and typed[1] == prompt[2]:
            return typed[2].strip()
    return None


def is_prompt(label: str) -> bool:
    """Is a label but the prompt of a session?"""
    return _PROMPT.fullmatch(label.strip()) is not None


def equation_before(before: str) -> list[str]:
    """The sides of an equation that the words before a block are, up to the block; nothing where they are none."""
    text = _MARKUP.sub(" ", without_prompt(before)).strip().rstrip(":").strip()
    if "=" not in text or len(text) > 200:
        return []
    sides = [side.strip() for side in re.split(r"(?<![<>!=])=(?!=)", text)]
    return [side.split()[-1] if number == 0 and side else side for number, side in enumerate(sides)]
