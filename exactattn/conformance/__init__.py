"""Test cases of other projects, judged against our enclosures: read where they are installed, never copied."""
