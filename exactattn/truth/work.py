"""How much work the exact engines would have with a problem, before any of it is done."""

from __future__ import annotations

from exactattn.attention.spec import Problem


def products(problem: Problem) -> int:
    """How many products of two numbers the matrix products of a problem take."""
    form, (queries, keys) = problem.row_form, problem.lengths
    total = joined = 0
    for head in form.heads:
        for part, rows in (("q", queries), ("k", keys), ("v", keys)):
            projection = getattr(head, f"W_{part.upper()}")
            total += rows * len(projection) * len(projection[0]) if projection else 0
        width, values = head.k or head.W_K, head.v or head.W_V
        total += queries * keys * len(width[0]) if width else 0
        total += queries * keys * len(values[0]) if values else 0
        joined += len(values[0]) if values else 0
    return total + (queries * joined * len(form.W_O[0]) if form.W_O else 0)
