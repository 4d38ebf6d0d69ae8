"""Prints one of the README's two commands, so that CI runs what a reader is told to run.

The command is the first fenced block after the HTML comment `<!-- command: NAME -->`.
"""

import re
import sys
from pathlib import Path


def command(text: str, name: str) -> str:
    """The fenced block marked with a name. Errors: SystemExit when the README has none."""
    found = re.search(rf"<!-- command: {re.escape(name)} -->\s*```[a-z]*\n(.*?)```", text, re.S)
    if found is None:
        raise SystemExit(f"README.md has no command marked {name!r}")
    return found.group(1)


if __name__ == "__main__":
    sys.stdout.write(command(Path("README.md").read_text(encoding="utf-8"), sys.argv[1]))
