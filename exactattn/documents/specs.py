"""A spec file -> what the tensors of a file are, and which attention is meant; one `CaseError` with every mistake.

Reading is that of case files: every scalar is text until it is read exactly, and all work is bounded before it is done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping as Names
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from exactattn.documents import files
from exactattn.documents.cells import Reader
from exactattn.documents.model_options import ROLES, SpecPart
from exactattn.documents.nodes import Mapping, Mistakes, Scalar, quoted
from exactattn.documents.shape import check_shape
from exactattn.documents.tensor_inputs import TensorMaker, first_look
from exactattn.documents.words import VERSION
from exactattn.documents.yamltext import read_yaml
from exactattn.errors import CaseError, Mistake
from exactattn.findings import Place
from exactattn.truth.tensors import Tensors

START = "`exactattn new --spec` writes a spec file to start from"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What was found in files of tensors.

    tensors  the problem; arrays: what is judged, by role; names: the tensor of each role; unused: all others;
    polarity: what a true in the mask means
    """

    tensors: Tensors
    arrays: Names[str, NDArray[Any]]
    names: Names[str, str]
    unused: tuple[str, ...]
    polarity: str = "attend"


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A spec file that was read; its numbers are read again when the sizes that they may use are known."""

    path: str
    sha256: str | None
    root: Mapping
    dtypes: Names[str, str]

    def inputs(self, arrays: Names[str, NDArray[Any]]) -> Inputs:
        """The problem that tensors by name make. Errors: CaseError with every mistake."""
        mistakes = Mistakes(self.path)
        said = self.root.values.get("tensors")
        named = said if isinstance(said, Mapping) else None
        maker = TensorMaker(self.root, named, arrays, Reader(mistakes))
        made = maker.make(tuple(ROLES))
        if made is None:
            error = mistakes.error()
            raise (
                error
                if self.sha256
                else CaseError(self.path, [Mistake(m.message, hint=m.hint) for m in error.mistakes])
            )
        tensors, names = made
        tables = {node.text for node in _names_in(self.root)}
        unused = tuple(name for name in arrays if name not in names.values() and name not in tables)
        polarity = self.root.values.get("polarity")
        word = polarity.text if isinstance(polarity, Scalar) else "attend"
        return Inputs(tensors, {role: arrays[name] for role, name in names.items()}, names, unused, word)


def load_spec(path: str) -> SpecFile:
    """The spec in a file, or on standard input for `-`. Errors: CaseError with every mistake."""
    return loads_spec(files.read_bytes(path, Mistakes(path)), path)


def loads_spec(data: bytes | str, path: str = "<text>") -> SpecFile:
    """The spec that a text is. Errors: CaseError with every mistake."""
    mistakes = Mistakes(path)
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    root = read_yaml(files.decode(raw, mistakes), mistakes, what="a spec", start=START)
    if not isinstance(root, Mapping):
        mistakes.wrong_kind(root, "the keys of a spec, such as `causal: top-left`", START)
        raise mistakes.error()
    check_shape(root, mistakes, SpecPart)
    version = root.values.get("version")
    if isinstance(version, Scalar) and version.text != VERSION:
        mistakes.add(f"found version {quoted(version.text)}, wanted {VERSION}", version)
    first_look(root, Reader(mistakes))
    if len(mistakes):
        raise mistakes.error()
    dtypes = root.values.get("dtypes")
    known = dtypes.values.items() if isinstance(dtypes, Mapping) else ()
    return SpecFile(
        path,
        hashlib.sha256(raw).hexdigest(),
        root,
        {name: node.text for name, node in known if isinstance(node, Scalar)},
    )


def plain_spec(path: str) -> SpecFile:
    """Attention without any option, for files that come without a spec; `path` is what mistakes are said of."""
    return SpecFile(path, None, Mapping({}, {}, Place(1, 1)), {})


def _names_in(root: Mapping) -> list[Scalar]:
    """The texts that name tensors in options."""
    parts = [root.values.get(key) for key in ("rotary", "qk_norm")]
    keys = ("cosines", "sines", "q_weight", "k_weight")
    found = [part.values.get(key) for part in parts if isinstance(part, Mapping) for key in keys]
    return [node for node in found if isinstance(node, Scalar)]
