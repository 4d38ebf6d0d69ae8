"""Files of `torch.save`: a dictionary of tensors, or one tensor, named by the stem of the file.

A file of PyTorch is an archive with a pickle that says how tensors are made from the bytes beside it. Before PyTorch
sees it, its size and the names of everything that the pickle calls are compared with the few that tensors need; then it
is loaded with `weights_only`. Without PyTorch such files cannot be read.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from exactattn.errors import Unavailable
from exactattn.tensors.archive import Member, Window, content, members
from exactattn.tensors.layout import PLAIN, READ, SHORT, array_over, check_name, dtype_named, size_of
from exactattn.tensors.reader import ZIP
from exactattn.tensors.source import Source
from exactattn.tensors.torch_pickle import AGAIN, MOST_PICKLE, check_pickle


class TorchReader:
    """A dictionary of tensors, or one."""

    name = "torch"
    suffixes = (".pt", ".pth")

    def begins(self, head: bytes) -> bool:
        """Whether a file may begin so."""
        return head.startswith(ZIP)

    def read(self, source: Source) -> Iterator[tuple[str, NDArray[Any]]]:
        """The tensors in the order of the dictionary."""
        _check(source)
        torch = _torch()
        loaded = _load(source, torch)
        named = {Path(source.path).stem: loaded} if isinstance(loaded, torch.Tensor) else loaded
        if not isinstance(named, dict):
            raise source.error(f"found a {type(loaded).__name__}, wanted a dictionary of tensors", AGAIN)
        source.taken = 0  # the archive was counted whole; tensors may share its bytes, or repeat them
        for name, tensor in named.items():
            if not isinstance(name, str):
                raise source.error(f"found a {type(name).__name__} as a name, wanted a text", AGAIN)
            check_name(source, name)
            yield name, _array(source, torch, name, tensor)


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise Unavailable("not run: torch is not installed; pip install 'exactattn[torch]'") from error


def _check(source: Source) -> None:
    """The archive and its pickle, before PyTorch sees them. Errors: TensorError."""
    found = members(source)
    pickles = [member for member in found if member.name.endswith("/data.pkl")]
    if len(pickles) != 1 or pickles[0].size > MOST_PICKLE:
        hint = "it looks like a file of numpy.savez: name it .npz" if _arrays(found) else AGAIN
        raise source.error("this is no file of torch.save, or its list of tensors is too long", hint)
    for member in found:
        if not member.stored:
            raise source.error("this part is compressed, as torch.save never does", AGAIN, member.name)
        data = content(source, member)
        if member is pickles[0]:
            check_pickle(source, bytes(data))


def _arrays(found: list[Member]) -> bool:
    return all(member.name.endswith(".npy") for member in found)


def _load(source: Source, torch: Any) -> Any:
    """What the file holds, as PyTorch reads it, on the CPU. Errors: TensorError with PyTorch's first words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(Window(source.data, len(source.data)), weights_only=True, map_location="cpu")
    except MemoryError:
        raise
    except Exception as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise source.error(f"PyTorch cannot read it: {first}", "save it again") from error


def _array(source: Source, torch: Any, name: str, tensor: Any) -> NDArray[Any]:
    """A tensor as an array, bit by bit. Errors: TensorError for what is no dense tensor of a type that is read."""
    if not isinstance(tensor, torch.Tensor):
        raise source.error(f"found a {type(tensor).__name__}, wanted a tensor", AGAIN, name)
    kind = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout is not torch.strided or tensor.device.type != "cpu" or kind not in PLAIN + SHORT:
        found = f"found a {tensor.layout} tensor of {tensor.dtype} on {tensor.device}"
        raise source.error(f"{found}, wanted a dense one of {READ}", "convert it first", name)
    dtype = dtype_named(kind)
    size = size_of(source, name, dtype, tuple(tensor.shape))
    source.take(size, name)
    bits = getattr(torch, {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}[dtype.itemsize])
    dense = tensor.detach().resolve_neg().contiguous().view(bits).numpy()
    return array_over(source, name, dense.reshape(-1).view("uint8").data, dtype, tuple(tensor.shape))


READER = TorchReader()
