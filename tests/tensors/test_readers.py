"""Every reader of files gives back every type and shape bit by bit, as other libraries wrote them."""

from __future__ import annotations

import importlib.util
import pickle
import sys

import ml_dtypes
import numpy as np
import pytest
from tensor_writers import (
    DTYPES,
    SHAPES,
    SHORT,
    WRITERS,
    bits,
    dtype,
    entry,
    npy_bytes,
    safetensors_bytes,
    same,
    zip_file,
)

from exactattn import plugins
from exactattn.errors import TensorError, Unavailable
from exactattn.tensors import source
from exactattn.tensors.files import read_tensors

READERS = plugins.found("tensors")
TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not TORCH, reason="torch is not installed")
EVERY = [pytest.param(name, marks=needs_torch if name == "torch" else ()) for name in READERS]


def said(reader, tensors):
    """What a caller must say: files of NumPy forget the types of ml_dtypes."""
    return {n: x.dtype.name for n, x in tensors.items() if reader in ("npy", "npz") and x.dtype.name in SHORT}


def written(reader, tmp_path, tensors):
    path = tmp_path / f"q{READERS[reader].suffixes[0]}"
    WRITERS[reader](path, tensors)
    return path


def test_readers_have_a_contract():
    assert set(READERS) == set(WRITERS)
    suffixes = [suffix for reader in READERS.values() for suffix in reader.suffixes]
    assert sorted(suffixes) == [".npy", ".npz", ".pt", ".pth", ".safetensors"]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("reader", EVERY)
def test_every_type_and_shape_comes_back_bit_by_bit(reader, name, tmp_path):
    for shape in SHAPES:
        tensors = {"q": bits(name, shape)}
        found = read_tensors(written(reader, tmp_path, tensors), dtypes=said(reader, tensors))
        assert list(found) == ["q"]
        assert same(found["q"], tensors["q"])
        assert not found["q"].flags.writeable


@pytest.mark.parametrize("reader", [each for each in EVERY if each.values != ("npy",)])
def test_several_tensors_keep_their_names(reader, tmp_path):
    tensors = {f"layer.{name}/x é": bits(name, (3, 2), seed) for seed, name in enumerate(DTYPES)}
    found = read_tensors(written(reader, tmp_path, tensors), dtypes=said(reader, tensors))
    assert found.keys() == tensors.keys()
    assert all(same(found[name], tensors[name]) for name in tensors)


@pytest.mark.parametrize("reader", EVERY)
def test_large_files_are_mapped(reader, tmp_path, monkeypatch):
    tensors = {"q": bits("float32", (7, 5))}
    monkeypatch.setattr(source, "MAPPED_FROM", 1)
    path = written(reader, tmp_path, tensors)
    found = read_tensors(path)["q"]
    assert same(found, tensors["q"])
    if reader in ("npy", "safetensors"):  # an archive puts arrays at odd places, and PyTorch copies
        base = found
        while getattr(base, "base", None) is not None:
            base = base.base
        assert type(base.obj).__name__ == "mmap"


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", ["float64", "float32", "float16", "int32", "uint16", "int64", "bool", "int8"])
@pytest.mark.parametrize("save", ["npy", "npz", "npz compressed"])
def test_byte_orders_and_fortran_order(save, name, order, tmp_path):
    """What numpy.save writes of either byte order reads as the same numbers; NumPy compares."""
    wanted = bits(name, (3, 4, 5))
    array = np.array(wanted.astype(wanted.dtype.newbyteorder(">")), order=order)
    path = tmp_path / f"q.{save[:3]}"
    {"npy": np.save, "npz": WRITERS["npz"]}.get(save, lambda file, x: np.savez_compressed(file, **x))(
        path, array if save == "npy" else {"q": array}
    )
    found = read_tensors(path)["q"]
    assert found.dtype.isnative
    assert same(np.ascontiguousarray(found), wanted)


def test_known_bits_of_short_formats(tmp_path):
    """1, -2, the largest and the smallest positive number: tables of the OCP 8-bit specification 1.0, and bfloat16."""
    data = bytes((0x38, 0xC0, 0x7E, 0x01)) + bytes((0x3C, 0xC0, 0x7B, 0x01))
    data += np.array([0x3F80, 0xC000, 0x7F7F, 0x0001], "<u2").tobytes()
    header = {
        "a": entry(0, 4, "F8_E4M3", [4]),
        "b": entry(4, 8, "F8_E5M2", [2, 2]),
        "c": entry(8, 16, "BF16", [4]),
        "__metadata__": {"format": "pt"},
    }
    path = tmp_path / "x.safetensors"
    path.write_bytes(safetensors_bytes(header, data))
    found = read_tensors(path)
    assert found["a"].astype(float).tolist() == [1, -2, 448, 2.0**-9]
    assert found["b"].astype(float).tolist() == [[1, -2], [57344, 2.0**-16]]
    assert found["c"].astype(float).tolist() == [1, -2, 255 * 2.0**120, 2.0**-133]


def test_tensors_at_odd_places_are_aligned(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(safetensors_bytes(b'{"q":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} ', b"\0\0\x80\x3f" * 2))
    found = read_tensors(path)["q"]
    assert found.flags.aligned
    assert found.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", SHORT)
def test_types_that_numpy_forgets_are_never_guessed(name, tmp_path):
    x = bits(name, (2, 3))
    np.save(tmp_path / "q.npy", x)
    with pytest.raises(TensorError, match=rf"bytes without a number format .*dtypes=.*'q': '{name}'"):
        read_tensors(tmp_path / "q.npy")
    assert same(read_tensors(tmp_path / "q.npy", dtypes={"q": name})["q"], x)
    np.savez(tmp_path / "x.npz", q=x.view(f"u{x.dtype.itemsize}"))  # how others save the bits
    assert same(read_tensors(tmp_path / "x.npz", dtypes={"q": name})["q"], x)


def test_types_that_are_said(tmp_path):
    np.savez(tmp_path / "x.npz", q=np.ones(3, ml_dtypes.float8_e4m3fn), k=np.ones(3, np.float32))
    found = read_tensors(tmp_path / "x.npz", dtypes={"q": "e4m3fn", "k": "float32"})
    assert found["q"].dtype == dtype("float8_e4m3fn")
    for wrong, message in (
        ({"q": "e5m2", "k": "float64"}, "tensor 'k': the file holds float32, and float64 was said"),
        ({"q": "bfloat16"}, "the file holds uint8, and bfloat16 was said"),
        ({"q": "int4"}, "'int4' is no type of tensors"),
        ({"q": "e5m2", "kk": "float32"}, "'kk', which is not there; did you mean 'k'"),
    ):
        with pytest.raises(TensorError, match=message):
            read_tensors(tmp_path / "x.npz", dtypes=wrong)


@pytest.mark.parametrize(
    "header",
    [
        "{'shape': (2,), 'fortran_order': False, 'descr': '<f8'}",  # another order, no last comma
        '{"descr": "<f8", "fortran_order": False, "shape": (2,)}\n',
        "  {'descr':'<f8','fortran_order':True,'shape':(2L,),}   ",  # Python 2
    ],
)
@pytest.mark.parametrize("version", [1, 2, 3])
def test_headers_of_other_writers(header, version, tmp_path):
    """NumPy reads them too."""
    path = tmp_path / "q.npy"
    path.write_bytes(npy_bytes(header=header, version=version, data=np.array([0.5, 3]).tobytes()))
    assert read_tensors(path)["q"].tolist() == [0.5, 3]
    if "L" not in header:
        assert np.load(path).tolist() == [0.5, 3]


def test_the_limit_of_all_tensors(tmp_path):
    np.savez(tmp_path / "x.npz", q=np.ones(100), k=np.ones(100))
    with pytest.raises(TensorError, match="wanted at most 1800"):
        read_tensors(tmp_path / "x.npz", most=1800)
    assert len(read_tensors(tmp_path / "x.npz", most=2000)) == 2


def test_links_inside_a_folder_are_followed(tmp_path):
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data" / "k.npy", np.ones(2))
    (tmp_path / "q.npy").symlink_to(tmp_path / "data" / "k.npy")
    assert read_tensors(tmp_path / "q.npy", tmp_path)["q"].tolist() == [1, 1]
    assert read_tensors(str(tmp_path / "data" / "k.npy"), str(tmp_path))["k"].tolist() == [1, 1]


def test_without_torch_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    zip_file(tmp_path / "x.pt", [("x/data.pkl", pickle.dumps({}, 2))])
    with pytest.raises(Unavailable, match=r"not run: torch is not installed; pip install 'exactattn\[torch\]'"):
        read_tensors(tmp_path / "x.pt")
