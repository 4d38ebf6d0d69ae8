"""A small file of tensors beside a case -> the problem of the case, each float as the exact number that it is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.positions import tables
from exactattn.attention.spec import Head, Problem
from exactattn.documents.cells import MAX_CELLS
from exactattn.documents.nodes import Mapping, Node, Scalar, found
from exactattn.documents.options import Options
from exactattn.documents.tensor_inputs import TensorMaker, check_width
from exactattn.errors import ProblemError, TensorError, Unavailable
from exactattn.numbers.exact import Matrix
from exactattn.tensors.files import read_tensors
from exactattn.truth.one_head import OneHead
from exactattn.truth.tensors import Tensors

MAX_SCORES = 40_000  # elements of the scores of all heads: 200 tokens
MOST_BYTES = 2**24  # of all tensors in the file
BY_HAND = "a case is for problems that are written by hand"
TENSORS = "`exactattn report` judges the outputs of whole tensors"


def problem_of_file(body: Mapping, options: Options) -> Problem | None:
    """The problem of the file that `tensors` names in a problem of a case, or None after noting every mistake."""
    mistakes, node = options.mistakes, body.values["tensors"]
    said = node if isinstance(node, Mapping) else None
    file = node if said is None else said.values.get("file")
    if file is None:
        mistakes.add("'tensors' has no key 'file'", node, "name the file: `tensors: {file: x.safetensors}`")
        return None
    dtypes = None if said is None else said.values.get("dtypes")
    types = (
        {key: x.text for key, x in dtypes.values.items() if isinstance(x, Scalar)}
        if isinstance(dtypes, Mapping)
        else {}
    )
    arrays = _read(file, types, options)
    if arrays is None:
        return None
    layout = said or Mapping({}, {}, node.place)
    made = TensorMaker(layout, said, arrays, options.reader, options).make()
    if made is None:
        return None
    try:
        return _problem(made[0])
    except ProblemError as error:
        mistakes.add(str(error), node, TENSORS)
        return None


def _read(file: Node, dtypes: dict[str, str], options: Options) -> dict[str, NDArray[Any]] | None:
    """The tensors of a file in the folder of the case, or None after noting why it cannot be used."""
    folder, name = options.reader.folder, options.mistakes.text(file)
    if name is None:
        return None
    if folder is None:
        hint = "write the case to a file in the folder of the tensors"
        options.mistakes.add(f"found the file {found(file)}, and this case is in no folder", file, hint)
        return None
    try:
        return read_tensors(Path(folder) / name, folder, dtypes=dtypes, most=MOST_BYTES)
    except TensorError as error:
        place = "" if error.tensor is None else f"tensor {error.tensor!r}: "
        options.mistakes.add(f"{found(file)}: {place}{error.message}", file, error.hint)
    except Unavailable as error:
        options.mistakes.add(f"{found(file)}: {error}", file)
    return None


def _problem(tensors: Tensors) -> Problem:
    """Errors: ProblemError for what is more than a case is for."""
    batch, heads, queries, keys = tensors.shape
    first = tensors.heads[0]
    if batch != 1:
        raise ProblemError(f"found {batch} sequences, and a problem of a case has one")
    if heads * queries * keys > MAX_SCORES:
        raise ProblemError(f"these tensors have {heads * queries * keys} scores, wanted at most {MAX_SCORES}")
    numbers = sum(x.size for head in tensors.heads for x in (head.q, head.k, head.v))
    if numbers > MAX_CELLS:
        raise ProblemError(f"these tensors have {numbers} numbers, wanted at most {MAX_CELLS}")
    if queries == 0 or keys == 0:
        raise ProblemError("there is no query or no key, and a problem of a case has some")
    if any(bad is not None for head in tensors.heads for bad in (head.bad_queries, head.bad_keys)):
        raise ProblemError("a NaN or an infinity is among the tensors, and a problem of a case has numbers")
    if any(not _alike(head, first) for head in tensors.heads):
        raise ProblemError("heads have masks or biases of their own, and a problem of a case has one for all")
    position = tensors.spec.first_position(queries, keys if first.key_length is None else first.key_length)
    problem = Problem(
        tuple(Head(q=_exact(head.q), k=_exact(head.k), v=_exact(head.v)) for head in tensors.heads),
        spec=tensors.spec,
        mask=None if first.mask is None else _full(first.mask, (queries, keys)),
        bias=None if first.bias is None else _exact(np.broadcast_to(first.bias, (queries, keys))),
        several_heads=tensors.layout != "LD",
        sinks=None if first.sink is None else tuple(head.sink for head in tensors.heads if head.sink is not None),
        key_length=first.key_length,
        positions=range(position, position + queries),
        rotary_positions=_plain(first),
    )
    check_turns(problem)
    return problem


def _alike(head: OneHead, other: OneHead) -> bool:
    pairs: tuple[tuple[Any, Any], ...] = ((head.mask, other.mask), (head.bias, other.bias))
    return all((a is None) == (b is None) and (a is None or np.array_equal(a, b)) for a, b in pairs)


def _exact(array: NDArray[Any]) -> Matrix:
    """Each float as the rational that it is."""
    return tuple(tuple(Fraction(x) for x in row) for row in np.asarray(array, dtype=np.float64).tolist())


def _full(mask: NDArray[np.bool_], shape: tuple[int, int]) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(row) for row in np.broadcast_to(mask, shape).tolist())


def _plain(head: OneHead) -> tuple[Any, Any]:
    """Rotary positions as Python's integers."""
    q, k = (None if x is None else tuple(int(p) for p in x) for x in head.rotary_positions)
    return q, k


def check_turns(problem: Problem) -> None:
    """Errors: ProblemError for rotary positions that do not fit the width or the cache, norms that do not fit."""
    spec, width = problem.spec, int(problem.names.get("d_k", 0))
    if not width:
        return
    check_width(spec, width)
    if spec.rotary is not None and spec.rotary.cache is not None:
        queries, keys = problem.rotary_positions
        tables(spec.rotary, width, problem.query_positions if queries is None else queries)
        tables(spec.rotary, width, range(problem.lengths[1]) if keys is None else keys)
